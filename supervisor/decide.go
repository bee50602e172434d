package supervisor

import (
	"context"
	"time"

	"podium/schemas"
	"podium/supervisor/session"
)

// decide runs the inputs that wait through the machine, in order, and appends one
// record of as many as it can hold.
func (o *Owner) decide(ctx context.Context, c *conversation, now time.Time) {
	b := &batch{state: c.state}
	var last judgement
	for _, in := range c.inputs {
		if in.event.Artifact != nil || in.foreign {
			break
		}
		if in.broken() || o.overtaken(c, in) {
			break
		}
		in.read.Now = now
		last = o.judge(c, b.next(), in.read)
		last.Doubtful = last.Doubtful && !last.lacks() && !c.confirmed(in.message.Sequence)
		b.doubtful = b.doubtful || last.Doubtful
		if !b.add(in, &last) {
			o.admission.Release(&c.admission) // what it was admitted to; those before it have sent nothing
			break
		}
		o.admission.Learn(&last.Outcome, now)
		o.reportUnproven(c, in, last.Facts)
		if last.Permitted != nil {
			o.tell(in.agent, last.Permitted)
		}
		if last.Unwanted != "" {
			o.hint(in.agent, last.Unwanted)
		}
		if b.full() || c.alone {
			break
		}
	}
	switch {
	case len(b.transitions) > 0:
		o.append(ctx, c, b)
	case b.doubtful:
		o.admission.Release(&c.admission)
		o.begin(c)
		o.confirm(ctx, c)
	case len(b.inputs) > 0:
		o.admission.Release(&c.admission)
		o.leave(c, b.inputs)
		o.push(c)
	case last.lacks():
		o.supply(ctx, c, &last)
	case last.Repeated > 0:
		o.answerAgain(ctx, c, c.inputs[0], last.Repeated)
	default:
		o.refuse(ctx, c, c.inputs[0], last.Refusal)
	}
}

// prompt decides what no message has caused: a deadline that has passed, or a grant.
func (o *Owner) prompt(ctx context.Context, c *conversation, read session.Input) {
	decided := o.judge(c, c.state, read)
	if len(decided.Facts) > 0 && !decided.lacks() {
		o.admission.Learn(&decided.Outcome, read.Now)
		o.append(ctx, c, &batch{transitions: []schemas.Transition{{Cause: decided.Cause, Facts: decided.Facts}}, state: decided.State})
		return
	}
	o.admission.Release(&c.admission)
	if decided.lacks() {
		o.supply(ctx, c, &decided)
		return
	}
	if read.Grant != nil {
		o.admission.EndGrant(&c.admission)
	}
	o.push(c)
}

// supply fetches what a decision lacks; then it is made anew.
func (o *Owner) supply(ctx context.Context, c *conversation, lacking *judgement) {
	if lacking.profile != "" {
		o.fetchProfile(ctx, c, lacking.profile)
		return
	}
	if len(lacking.formers) > 0 {
		o.fetchFormer(ctx, c, lacking.formers[0])
		return
	}
	o.fetch(ctx, c, lacking.inputs)
}

// reportUnproven says that an answer has named files which its agent may not pass on.
func (o *Owner) reportUnproven(c *conversation, in *input, facts []schemas.Fact) {
	for i := range facts {
		if f := facts[i].TaskCompleted; f != nil && len(f.Unproven) > 0 {
			o.Log.Warn().Str("agent", in.agent).Str("session", c.id()).Int("files", len(f.Unproven)).Msg("an agent names files that it may not pass on; they are left out")
		}
	}
}
