// Package problem is what the adapters that speak HTTP say to programs: problem
// documents (RFC 9457), and the writing around them.
//
// # Guarantees
//
// Every refusal of an adapter is a problem document, that of a body which does not arrive
// included. Its type is a URN that never changes and that programs may branch on; its
// detail says what to do next.
//
// Whatever is sent is for its reader alone: no cache keeps it, and the URL that it
// was sent to, which may hold a key, is told to nobody.
package problem

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
)

// MediaType is that of problem documents (RFC 9457, section 6.1).
const MediaType = "application/problem+json"

// typePrefix begins every type; the name of the problem follows.
const typePrefix = "urn:podium:problem:"

// The waits that an adapter asks for when it cannot store what it was sent, or cannot
// serve one more.
const (
	RetryFull        = 30 * time.Second
	RetryUnavailable = 2 * time.Second
)

// A Document is a problem document (RFC 9457, section 3.1). An adapter that has more to
// tell embeds it in a struct of its own, whose other fields are the extension members
// (section 3.2).
type Document struct {
	Type   string `json:"type"` // "urn:podium:problem:…", stable: programs may branch on it
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"` // says what to do next

	// RetryAfter is the wait that is asked for in the header of that name (RFC 9110,
	// section 10.2.3), in whole seconds, rounded up; 0 leaves the header out.
	RetryAfter time.Duration `json:"-"`
}

// New returns the document of a problem; the name is the end of its type.
func New(status int, name, title, detail string) *Document {
	return &Document{Type: typePrefix + name, Title: title, Status: status, Detail: detail}
}

// After asks for a wait before the next try.
func (d *Document) After(wait time.Duration) *Document {
	d.RetryAfter = wait
	return d
}

// Error implements error.
func (d *Document) Error() string { return d.Title + ": " + d.Detail }

func (d *Document) base() *Document { return d }

// A Problem is a *Document or a pointer to a struct that embeds a Document.
type Problem interface {
	error
	base() *Document
}

// Write answers with a problem, and with the headers that its status asks for: 401
// names the scheme of credentials that every adapter takes (RFC 9110, section 11.6.1).
func Write(w http.ResponseWriter, told Problem) {
	document := told.base()
	if document.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(document.RetryAfter.Seconds()))))
	}
	if document.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="podium"`)
	}
	WriteJSON(w, document.Status, MediaType, told)
}

// OfLedger chooses the problem that an error of publishing on the ledger is for the
// sender: that it takes no more, that the event is too large for it, or, for every
// other error, that it does not answer.
func OfLedger(err error, full, tooLarge, unavailable *Document) *Document {
	switch {
	case errors.Is(err, bus.ErrFull):
		return full
	case errors.Is(err, bus.ErrTooLarge):
		return tooLarge
	}
	return unavailable
}

// Severity returns how the log says that a message was not stored. That the ledger takes
// no more is said once for all of them, by whoever watches it.
func Severity(err error) zerolog.Level {
	if bus.IsAny(err, bus.ErrFull, bus.ErrFailed) {
		return zerolog.DebugLevel
	}
	return zerolog.ErrorLevel
}

// WriteMethod answers 405 with the methods that are allowed, such as "GET, HEAD"
// (RFC 9110, section 15.5.6).
func WriteMethod(w http.ResponseWriter, allowed string) {
	w.Header().Set("Allow", allowed)
	Write(w, New(http.StatusMethodNotAllowed, "method", "The method is not allowed here", "Use "+allowed+"."))
}

// Fragment writes a JSON Pointer as the fragment of a URI (RFC 6901, section 6).
func Fragment(pointer string) string { return "#" + (&url.URL{Path: pointer}).EscapedPath() }

// WriteJSON answers with a document of any kind. One that has no JSON form is
// answered with 500.
func WriteJSON(w http.ResponseWriter, status int, mediaType string, document any) {
	body, err := schemas.Marshal(document)
	if err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a reader that has gone needs no answer
}
