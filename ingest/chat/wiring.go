package chat

import (
	"fmt"
	"net/http"
	"time"

	"podium/bus/intake"
)

// A Verifier knows one sender by Standard Webhooks 1.0 or by a bearer token. It is
// safe for use by several goroutines at once.
type Verifier interface {
	// Claims reports whether the header alone shows what may prove the sender: the token,
	// or a fresh signature over a body yet to be read. Where it does not, nobody reads one.
	Claims(header http.Header, now time.Time) bool
	// Verify reports whether a request comes from somebody who knows a secret: by a
	// signature over the raw body, or by the token. It compares in constant time, and
	// its error is the same whatever is wrong.
	Verify(body []byte, header http.Header, now time.Time) error
	// Reads reports whether the request bears the token.
	Reads(header http.Header) bool
}

// NewVerifier returns what knows a sender by its secrets and its token, in the forms
// that Channel has for the provider webhook. Errors never repeat a secret.
func NewVerifier(secrets []string, token string) (Verifier, error) {
	if len(secrets) > maxSecrets {
		return nil, fmt.Errorf("%d secrets: at most %d are allowed, the one in use and its successor", len(secrets), maxSecrets)
	}
	return newWebhook(secrets, token)
}

// RunURLs returns where the run of an event is read and where its progress is
// followed, the key included, whichever door the event came in by.
func (d *Door) RunURLs(receipt intake.Receipt) (run, events string) {
	return d.urls(referenceOf(receipt))
}
