package supervisor

import (
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus"
)

// overtaken reports whether a session that an input was given to, by the request that it
// names alone, has taken inputs behind it and waits for it no longer. Then the session
// was not as the ledger had it, and it may be that nobody has dealt with the input: a
// former owner that knew of the end of the run took it for nobody's, let what came
// behind it pass and has died before it put it into quarantine.
func (o *Owner) overtaken(c *conversation, in *input) bool {
	if in.sought || in.message.Sequence > c.state.Applied || in.kind == bus.KindIn || in.kind == bus.KindControl {
		return false
	}
	run, _, _ := strings.Cut(in.event.Subject, "/")
	_, named := o.sessionOfRun(run)
	return !named && !slices.Contains(c.requests, in.answers())
}

// seekRecord looks for the record that an overtaken input has caused. Without one it belongs
// to nobody.
func (o *Owner) seekRecord(ctx context.Context, c *conversation, in *input) {
	o.begin(c)
	var taken bool
	o.operate(func() (err error) {
		taken, err = took(ctx, o.Core, bus.SessionSubject(c.id, o.shards), in.message.Sequence)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		if in.sought = true; !taken {
			c.inputs = slices.Delete(c.inputs, 0, 1)
			o.meet(in)
		}
		o.end(c)
	})
}

// took reports whether a record of a session has an input of that sequence as its cause.
// It reads from the newest record back to those that have taken earlier inputs.
func took(ctx context.Context, core bus.Core, subject string, sequence uint64) (bool, error) {
	message, err := core.Last(ctx, subject)
	for err == nil {
		var stored storedRecord
		if stored, _, err = readRecord(ctx, core.Artifacts(), message); err != nil {
			break
		}
		earlier := stored.previous == 0
		for transition := range stored.record.Transitions() {
			cause := transition.Cause.Sequence
			if cause == sequence {
				return true, nil
			}
			earlier = earlier || cause > 0 && cause < sequence
		}
		if earlier {
			return false, nil
		}
		message, err = core.Get(ctx, message.Stream, stored.previous)
	}
	return false, err
}
