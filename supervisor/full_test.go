package supervisor_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
)

// A shutLedger takes nothing any more once it is shut.
type shutLedger struct {
	bus.Core
	why atomic.Pointer[error]
}

// Publish implements bus.Ledger.
func (l *shutLedger) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if why := l.why.Load(); why != nil {
		done(bus.Ack{}, *why)
		return
	}
	l.Core.Publish(message, expect, done)
}

// TestStopOnAFullLedger: a stop does not wait for a ledger that takes nothing, and says
// why something is left under way; the next owner goes on with it.
func TestStopOnAFullLedger_X03(t *testing.T) {
	t.Parallel()
	for _, why := range []error{bus.ErrFull, &bus.LostError{Stream: "PODIUM_0", Seen: 7}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, 1)
			core := &shutLedger{Core: d.ledger}
			ctx, stop := context.WithCancel(t.Context())
			ended := d.run(ctx, "one", core)
			d.say("thread", "m1", "do it")
			synctest.Wait()
			core.why.Store(&why)
			d.answerNewest("worker", "done")
			synctest.Wait()
			began := time.Now()
			stop()
			err := <-ended
			if took := time.Since(began); took > time.Second || !errors.Is(err, why) || !strings.Contains(err.Error(), "the next start goes on") {
				t.Errorf("stopped after %s with %v", took, err)
			}
			core.why.Store(nil)
			ctx, stop = context.WithCancel(t.Context())
			ended = d.run(ctx, "two", core)
			synctest.Wait()
			if asked := d.requests("chat"); len(asked) == 0 {
				t.Error("the answer was lost")
			}
			stop()
			if err = <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
