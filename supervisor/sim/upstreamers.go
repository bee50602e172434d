package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// upstreamers are what a world has in which runs wait for a decision from upstream; nil is a world without.
type upstreamers struct {
	rand *rand.Rand
	// Next is what is read next of each stream.
	next   map[string]uint64
	spoken map[string]int // by request
	plans  int
}

// newUpstreamers returns those of the world of a seed.
func newUpstreamers(seed uint64) *upstreamers {
	return &upstreamers{
		rand: source(seed, upstreamerStream),
		next: map[string]uint64{}, spoken: map[string]int{},
	}
}

// upstreamWaits are those that a profile may have.
func upstreamWaits() []time.Duration {
	return []time.Duration{5 * time.Second, 40 * time.Second, 10 * time.Minute}
}

// declare says in profiles which failures are decided upstream, and for how long that is waited for. Some do not wait,
// and some ask people as well.
func (u *upstreamers) declare(sources []schemas.Profile) {
	if u == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		if p.Escalation == nil || once(u.rand, 8) {
			continue
		}
		if mode := pick(u.rand, schemas.ExecutionSequence, schemas.ExecutionDAG, schemas.ExecutionDAG); p.Replan == nil {
			p.Execution.Mode = mode
		}
		p.Escalation.Planner = u.channel()
		if once(u.rand, 2) {
			p.Escalation.Coordinator = u.channel()
		}
		p.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: pick(u.rand, schemas.WayPlanner, schemas.WayPlanner, schemas.WayCoordinator)}
		for _, category := range []schemas.FailureCategory{schemas.CategoryDependency, schemas.CategoryCoordination, schemas.CategoryValidation} {
			if once(u.rand, 3) {
				p.Recovery[string(category)] = pick(u.rand, schemas.WayHuman, schemas.WayCoordinator, schemas.WayPlanner, schemas.WaySkip)
			}
		}
	}
}

func (u *upstreamers) channel() *schemas.EscalationChannel {
	channel := &schemas.EscalationChannel{Upstream: true}
	if !once(u.rand, 6) {
		channel.Wait = schemas.Duration(pick(u.rand, upstreamWaits()...))
	}
	return channel
}

// speaks reports whether somebody says something to what they are told of a request now: soon mostly, and not without
// end.
func (u *upstreamers) speaks(request string) bool {
	const most = 4
	if u.spoken[request] >= most || !once(u.rand, 3) {
		return false
	}
	u.spoken[request]++
	return true
}

// plan is another plan, of new tasks alone.
func (u *upstreamers) plan() string {
	u.plans++
	agent := pick(u.rand, "alpha", "beta", "gamma")
	one := fmt.Sprintf(`{"task_id":"own%d","description":"%s once more","assigned_to":%q}`, u.plans, agent, agent)
	if once(u.rand, 2) {
		return "[" + one + "]"
	}
	return fmt.Sprintf(`[%s,{"task_id":"then%d","description":"beta after that","assigned_to":"beta","dependencies":["own%d"]}]`, one, u.plans, u.plans)
}

// keeping is another plan that keeps a task of the former one.
func (u *upstreamers) keeping(task string) string {
	u.plans++
	return fmt.Sprintf(`[{"task_id":"own%d","description":"alpha once more","assigned_to":"alpha"},{"task_id":%q}]`, u.plans, task)
}

// unsound is a plan that nobody can carry out.
func (u *upstreamers) unsound(task string) string {
	return pick(u.rand,
		`[{"task_id":"x","description":"beta","assigned_to":"nobody"}]`, `[{"task_id":"x","description":"beta","assigned_to":"beta","dependencies":["x"]}]`,
		`[]`, `[{"task_id":"x","description":"beta","assigned_to":"beta","dependencies":["nothing"]}]`,
		fmt.Sprintf(`[{"task_id":%q,"description":"something else","assigned_to":"alpha"}]`, task),
	)
}
