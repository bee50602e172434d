package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/bus/jetstream/wire"
)

// errAbandoned reports an append that the server will not answer any more.
var errAbandoned = errors.New("the server has stopped to answer; it may have been stored, or not")

// A hold is why nothing is put on the ledger at the moment.
type hold struct{ reason atomic.Pointer[error] }

// refusing returns the reason; nil is none.
func (h *hold) refusing() error {
	if reason := h.reason.Load(); reason != nil {
		return *reason
	}
	return nil
}

// Hold refuses with an error, from now on and before the server hears of it, whatever
// this connection would append, put into a bucket or store as an artifact. Nil ends
// that. What is under way goes on, and what only reads, too.
func (c *Core) Hold(reason error) {
	c.hold.reason.Store(&reason)
}

// Held returns why Hold refuses; nil says that it does not.
func (c *Core) Held() error { return c.hold.refusing() }

// Abandon ends whatever the server was sent to store and has not answered, with a
// temporary error. It is for a server that is known to answer none of it.
func (c *Core) Abandon() {
	c.publisher.giveUp(time.Now(), &bus.TemporaryError{Op: "publish", Err: errAbandoned})
	c.abandoned.Raise()
}

// Answered bounds a request that may have to be abandoned.
func (c *Core) Answered(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := wire.Bounded(ctx)
	ctx, end := c.abandoned.Until(ctx)
	return ctx, func() { end(); cancel() }
}

// allowed returns an error while something is held.
func (h *hold) allowed(op string) error {
	if reason := h.refusing(); reason != nil {
		return fmt.Errorf("%s: %w", op, reason)
	}
	return nil
}
