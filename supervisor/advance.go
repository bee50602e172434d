package supervisor

import (
	"context"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/session"
)

// advance does the next thing for a session that is not busy.
func (o *Owner) advance(ctx context.Context, live *liveSession, now time.Time) {
	live.report = o.progress.Follow(ctx, live.report, &live.state, now)
	switch {
	case !live.loaded && !live.assumeNew():
		o.load(ctx, live)
	case len(live.inputs) > 0 && o.overtaken(live, live.inputs[0]):
		o.lookUpOvertaken(ctx, live, live.inputs[0])
	case len(live.inputs) > 0 && live.inputs[0].unread && !o.isAskedFor(live, live.inputs[0]):
		o.refuseUnread(ctx, live, live.inputs[0])
	case len(live.inputs) > 0 && live.inputs[0].unread:
		o.fetchBody(ctx, live, live.inputs[0])
	case len(live.inputs) > 0 && live.inputs[0].unknownArtifactGrant:
		o.refreshArtifactGrants(ctx, live, live.inputs[0])
	case len(live.inputs) > 0 && live.inputs[0].unkept:
		o.keepArtifacts(ctx, live, live.inputs[0])
	case len(live.inputs) > 0 && live.inputs[0].needsQuarantine():
		o.quarantineFirst(ctx, live, live.inputs[0])
	case len(live.inputs) > 0:
		o.decide(ctx, live, now)
	default:
		o.advanceWithoutInput(ctx, live, now)
	}
}

// advanceWithoutInput does what no input has caused.
func (o *Owner) advanceWithoutInput(ctx context.Context, live *liveSession, now time.Time) {
	grant, granted := live.demand.Granted()
	switch {
	case granted && !o.admission.GrantUsable(&live.demand):
		o.admission.EndGrant(&live.demand)
		o.push(live)
	case granted:
		o.decideWithoutInput(ctx, live, session.Input{Now: now, Grant: &grant})
	default:
		deadline, due := live.due(now)
		if due && !o.caughtUp(now) {
			o.loop.At(now.Add(o.CatchUp/4), func(time.Time) { o.push(live) })
			return
		}
		if due {
			o.decideWithoutInput(ctx, live, session.Input{Now: now, Deadline: &deadline})
			return
		}
		if absence := o.admission.Absence(&live.demand, now); absence != nil {
			o.decideWithoutInput(ctx, live, session.Input{Now: now, Absence: absence})
			return
		}
		live.fetchedInputs, live.endedRuns = nil, nil
		o.setDeadlineTimer(live)
		o.evict(live)
	}
}

func (live *liveSession) due(now time.Time) (schemas.Deadline, bool) {
	for _, deadline := range live.state.Deadlines() {
		if !deadline.At.Add(fault.Either("a deadline rings before its moment", -time.Second, 0)).After(now) {
			return deadline, true
		}
	}
	return schemas.Deadline{}, false
}
