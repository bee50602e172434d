package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// bodyLimit is how much of a body is read unless Limits says otherwise.
const bodyLimit = 2 << 20

var (
	// ErrTooLarge reports that a body goes on beyond what may be read of it.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrSilent reports a server that said nothing for too long.
	ErrSilent = errors.New("the server falls silent")
)

// Limits bound an answer. The time in which the caller does not read does not count.
type Limits struct {
	// Body is how many bytes a body may have after decompression; 0 is 2 MiB.
	Body int64
	// FirstByte is how long it may take until the first byte of the body or its end,
	// connecting and sending included; 0 is as long as the request's context.
	FirstByte time.Duration
	// Idle is how long it may take from one byte to the next; 0 is as long as the
	// request's context.
	Idle time.Duration
}

func (l Limits) roundTrip(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	answer := &boundedBody{ctx: ctx, cancel: cancel, limits: l, left: l.FirstByte}
	waited := answer.wait()
	response, err := next.RoundTrip(request.WithContext(ctx))
	waited()
	if err != nil {
		err = answer.cause(err)
		cancel(nil)
		return nil, err
	}
	answer.body = http.MaxBytesReader(nil, response.Body, cmp.Or(max(l.Body, 0), bodyLimit))
	response.Body = answer
	return response, nil
}

// boundedBody is a body that ends when its server says too much, or nothing.
type boundedBody struct {
	ctx    context.Context //nolint:containedctx // the request's, which ends with its answer
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	limits Limits
	begun  bool          // whether a byte of it was read
	left   time.Duration // until the next byte has to be there; 0 is for ever
}

// wait begins to wait for the server. What it returns ends that.
func (b *boundedBody) wait() (waited func()) {
	if b.left <= 0 {
		return func() {}
	}
	what, limit := "first", b.limits.FirstByte
	if b.begun {
		what, limit = "further", b.limits.Idle
	}
	began := time.Now()
	timer := time.AfterFunc(b.left, func() {
		b.cancel(fmt.Errorf("%w: no %s byte of its answer within %s", ErrSilent, what, limit))
	})
	return func() {
		timer.Stop()
		b.left = max(b.left-time.Since(began), 1)
	}
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	waited := b.wait()
	n, err := b.body.Read(p)
	waited()
	if n > 0 {
		b.begun, b.left = true, b.limits.Idle
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.cause(err)
	}
	return n, err
}

// cause is what an error comes from, if that is a limit.
func (b *boundedBody) cause(err error) error {
	if cause := context.Cause(b.ctx); errors.Is(cause, ErrSilent) {
		return cause
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, large.Limit)
	}
	return err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	err := b.body.Close()
	b.cancel(nil)
	return err
}
