package supervisor

import (
	"context"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/session"
)

// decide runs the inputs that wait through the machine, in order, and appends one
// record of as many as it can hold.
func (o *Owner) decide(ctx context.Context, live *liveSession, now time.Time) {
	b := &batch{state: live.state}
	var last evaluation
	for _, in := range live.inputs {
		if in.unread || in.unknownArtifactGrant || in.unkept {
			if fault.Is("a large body is overtaken") {
				continue
			}
			break
		}
		if in.needsQuarantine() || o.overtaken(live, in) {
			break
		}
		in.read.Now = now
		last = o.evaluate(live, b.next(), in.read)
		last.Doubtful = last.Doubtful && !last.lacks() && !live.confirmed(in.message.Sequence)
		b.doubtful = b.doubtful || last.Doubtful
		if !b.add(in, &last) {
			o.admission.Release(&live.demand) // what it was admitted to; those before it have sent nothing
			break
		}
		o.sendHints(last.Outputs, in.message.Recorded)
		o.reportUnproven(live, in, last.Facts)
		if b.full() || live.alone {
			break
		}
	}
	switch {
	case len(b.transitions) > 0:
		o.storeRecord(ctx, live, b)
	case b.doubtful:
		o.admission.Release(&live.demand)
		o.begin(live, stageConfirming)
		o.confirm(ctx, live)
	case len(b.inputs) > 0:
		o.admission.Release(&live.demand)
		o.completeInputs(live, b.inputs)
		o.push(live)
	case last.lacks():
		o.fetchMissing(ctx, live, &last)
	default:
		o.sendAlone(ctx, live, live.inputs[0], last.Outputs)
	}
}

// decideWithoutInput decides what no message has caused: a deadline that has passed, or a grant.
func (o *Owner) decideWithoutInput(ctx context.Context, live *liveSession, read session.Input) {
	decided := o.evaluate(live, live.state, read)
	if len(decided.Facts) > 0 && !decided.lacks() {
		o.sendHints(decided.Outputs, read.Now)
		o.storeRecord(ctx, live, &batch{transitions: []schemas.Transition{{Cause: decided.Cause, Facts: decided.Facts}}, state: decided.State})
		return
	}
	o.admission.Release(&live.demand)
	if decided.lacks() {
		o.fetchMissing(ctx, live, &decided)
		return
	}
	if read.Grant != nil {
		o.admission.EndGrant(&live.demand)
	}
	o.push(live)
}

// reportUnproven says that an answer has named files which its agent may not pass on.
func (o *Owner) reportUnproven(live *liveSession, in *input, facts []schemas.Fact) {
	for i := range facts {
		if f, is := facts[i].(*schemas.TaskCompleted); is && len(f.Unproven) > 0 {
			o.Log.Warn().Str("agent", in.agent).Str("session", live.id()).Int("files", len(f.Unproven)).Msg("an agent names files that it may not pass on; they are left out")
		}
	}
}
