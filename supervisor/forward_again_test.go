package supervisor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/supervisor/gateway"
)

// "An answer moved twice changes nothing, so a lost cursor costs only repeats."
func TestAnAnswerMovedTwiceChangesNothing_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		o := d.open("one", d.ledger, 0)
		forward := func() {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- (&gateway.Forwarder{Core: d.ledger, Log: zerolog.Nop()}).Run(ctx) }()
			synctest.Wait()
			stop()
			d.must(<-ended)
		}
		d.say("thread", "m1", "do it")
		d.must(d.work(o))
		request := d.requests("worker")[0]
		bare := d.response("worker", &request, "done")
		bare.MessageID = uuid.NewString() // as any client in another language makes them
		d.bare("podium.agent.worker.response", bare)
		forward()
		d.must(d.work(o))
		d.answerNewest("chat", "")
		d.must(d.work(o))
		before := len(d.records("thread"))
		forward() // after a restart: the cursor was not stored
		d.must(d.work(o))
		for _, refused := range d.refusals() {
			t.Errorf("in quarantine: %s %s: %s", refused.Subject, refused.Reason, refused.Detail)
		}
		if after := len(d.records("thread")); after != before {
			t.Errorf("%d records became %d", before, after)
		}
		_ = bus.WorkStream
	})
}
