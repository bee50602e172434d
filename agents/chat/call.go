package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"podium/schemas"
)

// answerLimit is how much of an answer to a call is read, in bytes.
const answerLimit = 64 << 10

// A statusError is an answer other than 2xx.
type statusError struct {
	status int
	after  time.Duration // the wait that it asks for
	doubt  bool          // what was asked for may have happened
}

func (s *statusError) Error() string  { return "the answer was HTTP " + s.String() }
func (s *statusError) String() string { return strconv.Itoa(s.status) }

// permanent reports whether another attempt cannot help.
func (s *statusError) permanent() bool {
	switch s.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return s.status >= 400 && s.status <= 499
	}
}

// A refusal is what a provider says in its own words.
type refusal struct {
	code  string // of the provider; machine-readable
	final bool   // another attempt cannot help
	doubt bool   // what was asked for may have happened
}

func (r *refusal) Error() string { return "the provider answered " + strconv.Quote(r.code) }

// An unknownError says that the other side has taken the answer or not: the call
// broke before it said so.
type unknownError struct{ error }

// Unwrap returns the cause.
func (e *unknownError) Unwrap() error { return e.error }

// call does one request and returns the first 64 KiB of the answer, with a *statusError
// on another answer than 2xx. Its errors name neither the URL, which may hold a token, nor
// the words.
func call(client *http.Client, request *http.Request) ([]byte, error) {
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request.Header.Set("User-Agent", "podium")
	reply, err := client.Do(request.WithContext(ctx)) //nolint:gosec // the callers know the host
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		err = fmt.Errorf("call: %w", err)
		if connected.Load() {
			return nil, &unknownError{err}
		}
		return nil, err
	}
	defer reply.Body.Close() //nolint:errcheck // nothing was written to it
	// What cannot be read to its end is looked at as far as it goes; the status counts.
	body, _ := io.ReadAll(io.LimitReader(reply.Body, answerLimit))
	if status := reply.StatusCode; status < 200 || status > 299 {
		return body, &statusError{status: status, after: retryAfter(reply.Header), doubt: doubtful(status)}
	}
	return body, nil
}

// callJSON sends a document, as call does.
func callJSON(ctx context.Context, client *http.Client, method, target, authorization string, document any) ([]byte, error) {
	body, err := schemas.Marshal(document)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the provider's address is not a URL")
	}
	request.Header.Set("Content-Type", schemas.MediaTypeJSON+"; charset=utf-8")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	return call(client, request)
}

// doubtful reports whether a server that answers so may have done what was asked:
// it or its gateway broke while it worked. 503 says that it has not begun.
func doubtful(status int) bool {
	return status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusNotImplemented
}

// retryAfter reads a wait in seconds (RFC 9110, section 10.2.3).
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second //nolint:gosec // below 2^31
}
