package mcp

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// httpClient is the given client, which shows the key to the server, and remembers for a call why its answer was cut short.
func (a *Agent) httpClient() *http.Client {
	ours := *a.config.Client
	next := ours.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	ours.Transport = &transport{next: next, key: a.config.Key, limit: a.config.MaxMessage}
	return &ours
}

// A hiddenError is one whose text does not hold the URL of the server, which may hold a secret.
type hiddenError struct {
	err  error
	text string
}

// Error implements error.
func (h *hiddenError) Error() string { return h.text }

// Unwrap gives the cause.
func (h *hiddenError) Unwrap() error { return h.err }

// hide takes the URL of the server out of an error.
func (a *Agent) hide(err error) error {
	if err == nil || a.config.URL == "" {
		return err
	}
	text := strings.ReplaceAll(err.Error(), a.config.URL, "its url")
	if target, parsed := url.Parse(a.config.URL); parsed == nil {
		text = strings.ReplaceAll(text, target.String(), "its url")
		if target.RawQuery != "" {
			text = strings.ReplaceAll(text, target.RawQuery, "…")
		}
	}
	return &hiddenError{err, text}
}

type transport struct {
	next  http.RoundTripper
	key   string
	limit int // bytes of a message that is looked into
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.key != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+t.key)
	}
	response, err := t.next.RoundTrip(request)
	if called, is := request.Context().Value(callKey{}).(*call); is && err == nil {
		response.Body = &watchedBody{ReadCloser: response.Body, of: called}
	}
	if err == nil {
		readableBody(response, t.limit)
	}
	return response, err
}

// A watchedBody tells its call why it cannot be read: the library says no more than that there is no answer.
type watchedBody struct {
	io.ReadCloser

	of *call
}

// Read implements io.Reader.
func (b *watchedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		b.of.lost.CompareAndSwap(nil, &err)
	}
	return n, err
}

// why is what an error of a call comes from: what the server has done to the connection.
func (c *call) why(err error) error {
	if lost := c.lost.Load(); lost != nil {
		return *lost
	}
	return c.session.why(err)
}
