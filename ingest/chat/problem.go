package chat

import (
	"net/http"
	"strconv"
	"time"

	"podium/schemas"
)

// A Problem is a problem document (RFC 9457). Detail says what to do next.
type Problem struct {
	Type   string         `json:"type"` // "urn:podium:problem:…", stable: programs may branch on it
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail"`
	Errors []ProblemPlace `json:"errors,omitzero"` // what is wrong with the body, and where

	retryAfter time.Duration
}

// Error implements error, for a Provider that has one for the sender.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// A ProblemPlace is one thing wrong with a body.
type ProblemPlace struct {
	Detail  string `json:"detail"`
	Pointer string `json:"pointer"` // a JSON Pointer as a URI fragment (RFC 6901, section 6); "#" is the whole body
}

// String is for whoever looks at the quarantine.
func (p ProblemPlace) String() string { return p.Detail + " at " + p.Pointer }

const (
	mediaTypeProblem = "application/problem+json"
	problemPrefix    = "urn:podium:problem:"
)

// The waits that a 503 asks for.
const (
	retryFull        = 30 * time.Second
	retryUnavailable = 2 * time.Second
)

func problem(status int, name, title, detail string) *Problem {
	return &Problem{Type: problemPrefix + name, Title: title, Status: status, Detail: detail}
}

func problemUnauthentic() *Problem {
	return problem(http.StatusUnauthorized, "unauthentic", "The sender is not known",
		"Sign the request as the channel's provider does (Standard Webhooks 1.0 unless another one is configured), with the channel's "+
			"secret and a clock that is right within five minutes, or send the channel's token as \"Authorization: Bearer …\". "+
			"A channel that does not exist is answered alike.")
}

func problemUnauthorized() *Problem {
	return problem(http.StatusUnauthorized, "unauthorized", "Reading needs a key or a token",
		"Use the URL that the message was answered with, its key included, or send the channel's token as \"Authorization: Bearer …\".")
}

func problemUnknownRun() *Problem {
	return problem(http.StatusNotFound, "unknown-run", "There is no such run",
		"Check the reference and the key: both stand in the URL that the message was answered with.")
}

func problemTooLarge() *Problem {
	return problem(http.StatusRequestEntityTooLarge, "too-large", "The body is too large",
		"Send at most "+strconv.Itoa(MaxBody)+" bytes; put larger material where a link can lead to it.")
}

func problemMediaType() *Problem {
	return problem(http.StatusUnsupportedMediaType, "media-type", "The body is not of a type that the channel takes",
		"Send the header \"Content-Type: application/json\".")
}

func problemBody(place ProblemPlace) *Problem {
	made := problem(http.StatusBadRequest, "invalid-message", "The message cannot be read",
		"Correct what is named under errors and send it again.")
	made.Errors = []ProblemPlace{place}
	return made
}

func problemWebhookID(wrong string) *Problem {
	return problem(http.StatusBadRequest, "invalid-id", "The header Webhook-Id cannot be used",
		"Send an id of your own making, the same for every repeat of one message: "+wrong+".")
}

func problemUnreadable() *Problem {
	return problem(http.StatusBadRequest, "incomplete", "The body did not arrive whole", "Send it again.")
}

func problemSlow() *Problem {
	return problem(http.StatusRequestTimeout, "slow", "The body took too long to arrive", "Send it again, all at once.")
}

func problemFull() *Problem {
	made := problem(http.StatusServiceUnavailable, "ledger-full", "The ledger takes no more",
		"Nothing was stored. Send it again later, with the same id.")
	made.retryAfter = retryFull
	return made
}

func problemUnavailable() *Problem {
	made := problem(http.StatusServiceUnavailable, "ledger-unavailable", "The ledger does not answer",
		"Send it again with the same id: should the first one have been stored after all, the second changes nothing.")
	made.retryAfter = retryUnavailable
	return made
}

func problemUnreadableRun() *Problem {
	made := problem(http.StatusServiceUnavailable, "ledger-unavailable", "The ledger does not answer",
		"Ask again; the run itself is not affected.")
	made.retryAfter = retryUnavailable
	return made
}

func problemBrokenRun() *Problem {
	return problem(http.StatusInternalServerError, "unreadable-run", "The run's records cannot be read",
		"Tell the operator, who finds out more with \"podium replay --verify\". The message itself is kept.")
}

func problemBusy() *Problem {
	made := problem(http.StatusServiceUnavailable, "too-many-readers", "Too many readers are being served",
		"Ask again, or read the run itself instead of its events.")
	made.retryAfter = retryUnavailable
	return made
}

func problemEventID() *Problem {
	return problem(http.StatusBadRequest, "last-event-id", "Last-Event-ID is not one of this stream's",
		"Send the id of an event as it was received, or leave the header out to begin at the start.")
}

func problemNoPage() *Problem {
	return problem(http.StatusNotFound, "no-such-page", "There is nothing here",
		"Send messages to /v1/chat/{channel}; read runs at /v1/runs/{ref} and /v1/runs/{ref}/events.")
}

func problemMethod(allowed string) *Problem {
	return problem(http.StatusMethodNotAllowed, "method", "The method is not allowed here", "Use "+allowed+".")
}

// write sends the problem.
func (p *Problem) write(w http.ResponseWriter) {
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(p.retryAfter/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="podium"`)
	}
	writeJSON(w, p.Status, mediaTypeProblem, p)
}

// writeJSON sends a document; what is sent here is for its reader alone.
func writeJSON(w http.ResponseWriter, status int, mediaType string, document any) {
	body, err := schemas.Marshal(document)
	if err != nil {
		// Every document of this package consists of strings, numbers and valid JSON.
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the key stands in the URL
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a reader that has gone needs no answer
}
