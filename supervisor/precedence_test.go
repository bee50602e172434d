package supervisor_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/supervisor/gateway"
)

// A queue is a ledger whose streams have all the readers that they may, but for
// those with precedence.
type queue struct {
	bus.Core
	mu     sync.Mutex
	opened int
}

func (q *queue) open(ctx context.Context) error {
	if !bus.HasPrecedence(ctx) {
		return &bus.TemporaryError{Op: "read", Err: bus.ErrTooManyReaders}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opened++
	return nil
}

// Read implements bus.Ledger.
func (q *queue) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	if err := q.open(ctx); err != nil {
		return nil, err
	}
	return q.Core.Read(ctx, stream, from, subjects...)
}

// Scan implements bus.Ledger.
func (q *queue) Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[bus.Message, error] {
	return func(yield func(bus.Message, error) bool) {
		if err := q.open(ctx); err != nil {
			yield(bus.Message{}, err)
			return
		}
		q.Core.Scan(ctx, stream, from, subjects...)(yield)
	}
}

// Readers without end keep neither an owner nor the forwarder from its work.
func TestOwnersReadWithPrecedence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		crowded := &queue{Core: d.ledger}
		ctx, stop := context.WithCancel(t.Context())
		ended := d.run(ctx, "one", crowded)
		go func() { ended <- (&gateway.Forwarder{Core: crowded, Log: zerolog.Nop()}).Run(ctx) }()
		d.say("thread", "m1", "do it")
		synctest.Wait()
		if d.answerNewest("worker", "done"); crowded.opened != 2 {
			t.Errorf("%d readers were opened, want the owner's and the forwarder's", crowded.opened)
		}
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("it ended with %v", err)
			}
		}
	})
}
