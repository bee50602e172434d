package verify

import (
	"context"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// ShardAtRest is Shard, and checks as well that nothing is half done after a transition: without an input the rules of a run have nothing left to do. It takes
// twice as long. What it finds is a fault of the rules, and not of the ledger.
func ShardAtRest(ctx context.Context, core bus.Core, profiles *restore.Profiles, shard int) (Result, error) {
	v := newVerifier(ctx, core, profiles, shard, "")
	v.rests = true
	return v.verify()
}

// checkRest decides without an input on the state after a transition.
func (v *verifier) checkRest(state session.State, epoch uint64, stored *schemas.Transition, at place, report func(string)) error {
	if !v.rests || at.hole != "" || state.Active == nil {
		return nil
	}
	nothing := &schemas.Transition{Cause: schemas.Cause{Time: stored.Cause.Time, Profile: stored.Cause.Profile, Unconfigured: stored.Cause.Unconfigured}}
	facts, err := v.decide(v.profiles, state, epoch, nothing, session.Input{Now: stored.Cause.Time})
	switch {
	case bus.Temporary(err):
		return err
	case err != nil:
		report("deciding without an input: " + err.Error())
	case len(facts) > 0:
		report("the rules go on without an input: " + facts[0].Name())
	}
	return nil
}
