package supervisor

import (
	"context"
	"time"

	"podium/schemas"
	"podium/supervisor/session"
)

// work does the next thing for a conversation that is not busy.
func (o *Owner) work(ctx context.Context, c *conversation, now time.Time) {
	c.report = o.progress.Follow(ctx, c.report, &c.state, now)
	switch {
	case c.busy:
	case !c.loaded && !c.presume():
		o.load(ctx, c)
	case len(c.inputs) > 0 && o.overtaken(c, c.inputs[0]):
		o.seekRecord(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].event.Artifact != nil:
		o.resolve(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].foreign:
		o.refresh(ctx, c, c.inputs[0])
	case len(c.inputs) > 0 && c.inputs[0].broken():
		o.isolateFirst(ctx, c, c.inputs[0])
	case len(c.inputs) > 0:
		o.decide(ctx, c, now)
	default:
		o.workAlone(ctx, c, now)
	}
}

// workAlone does what no input has caused.
func (o *Owner) workAlone(ctx context.Context, c *conversation, now time.Time) {
	grant, granted := c.admission.Granted()
	switch {
	case granted && !o.admission.Usable(&c.admission):
		o.admission.EndGrant(&c.admission)
		o.push(c)
	case granted:
		o.prompt(ctx, c, session.Input{Now: now, Grant: &grant})
	default:
		deadline, due := c.due(now)
		if due && !o.caughtUp(now) {
			o.loop.At(now.Add(o.CatchUp/4), func(time.Time) { o.push(c) })
			return
		}
		if due {
			o.prompt(ctx, c, session.Input{Now: now, Deadline: &deadline})
			return
		}
		if absence := o.admission.Absence(&c.admission, now); absence != nil {
			o.prompt(ctx, c, session.Input{Now: now, Absence: absence})
			return
		}
		c.recalled, c.formers = nil, nil
		o.watch(c)
		o.evict(c)
	}
}

func (c *conversation) due(now time.Time) (schemas.Deadline, bool) {
	for _, deadline := range c.state.Deadlines() {
		if !deadline.At.After(now) {
			return deadline, true
		}
	}
	return schemas.Deadline{}, false
}
