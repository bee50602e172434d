package supervisor

import (
	"context"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/supervisor/history"
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
	o.loop.Await(func() (err error) {
		taken, err = history.Took(ctx, o.Core, c.id(), in.message.Sequence)
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
