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

// answerLimit is how much of a callback's answer is read, in bytes, so that its
// connection can be used again; what it says does not matter.
const answerLimit = 64 << 10

// A callback is where a channel takes answers.
type callback struct {
	url string
	key []byte
}

// A Delivery is the body of a call: the payload form that Standard Webhooks
// 1.0 recommends.
type Delivery struct {
	Type      string    `json:"type"` // always "message"
	Timestamp time.Time `json:"timestamp"`
	Data      Message   `json:"data"`
}

// A Message is one answer on its way to a channel.
type Message struct {
	Channel   string `json:"channel"`
	Thread    string `json:"thread,omitzero"`
	InReplyTo string `json:"in_reply_to,omitzero"` // id of the chat message that it answers
	Text      string `json:"text"`
	Run       string `json:"run,omitzero"`
	ReplyID   string `json:"reply_id"` // the same for every attempt; equal to webhook-id
}

// A statusError is an answer other than 2xx.
type statusError int

func (s *statusError) Error() string  { return "the callback answered " + s.String() }
func (s *statusError) String() string { return strconv.Itoa(int(*s)) }

// permanent reports whether another attempt cannot help.
func (s *statusError) permanent() bool {
	switch code := int(*s); code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code <= 499
	}
}

// An unknownError says that the callback has taken the answer or not: the call
// broke before it said so.
type unknownError struct{ error }

// Unwrap returns the cause.
func (e *unknownError) Unwrap() error { return e.error }

// deliver makes one signed call. Its errors name neither the URL, which may
// hold a token, nor the words.
func (a *Agent) deliver(ctx context.Context, target callback, answer Message) error {
	now := a.now()
	body, err := schemas.Marshal(Delivery{Type: "message", Timestamp: now.UTC(), Data: answer})
	if err != nil {
		return err
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, target.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the callback is not a URL")
	}
	call.Header.Set("Content-Type", schemas.MediaTypeJSON)
	call.Header.Set("User-Agent", "podium")
	sign(call.Header, target.key, answer.ReplyID, now, body)
	reply, err := a.client.Do(call)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		err = fmt.Errorf("call: %w", err)
		if connected.Load() {
			return &unknownError{err}
		}
		return err
	}
	defer reply.Body.Close() //nolint:errcheck // nothing was written to it
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, answerLimit))
	if reply.StatusCode < 200 || reply.StatusCode > 299 {
		status := statusError(reply.StatusCode)
		return &status
	}
	return nil
}
