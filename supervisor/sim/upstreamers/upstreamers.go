// Package upstreamers holds for how long runs wait for whoever has asked for them when something of them has failed, and what those say to that, in worlds with that:
// another plan, one that nobody can carry out, several at once, too late, or nothing. All of it is drawn from a source of its own.
package upstreamers

import (
	"fmt"
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// stream is a source of its own for what is decided upstream, so that worlds without it are as they were.
const stream = 0x757073747265616d

// Upstreamers are what a world has in which runs wait for a decision from upstream; nil is a world without.
type Upstreamers struct {
	Rand *rand.Rand
	// Next is what is read next of each stream.
	Next map[string]uint64
	// Sound are the words with a plan that can be carried out whatever else there is, by their ids.
	Sound  map[string]bool
	spoken map[string]int // by request
	plans  int
}

// New returns those of the world of a seed.
func New(seed uint64) *Upstreamers {
	return &Upstreamers{
		Rand: rand.New(rand.NewPCG(seed, stream)), //nolint:gosec // a simulation repeats
		Next: map[string]uint64{}, Sound: map[string]bool{}, spoken: map[string]int{},
	}
}

// Waits are those that a profile may have.
func Waits() []time.Duration {
	return []time.Duration{5 * time.Second, 40 * time.Second, 10 * time.Minute}
}

// Declare says in profiles which failures are decided upstream, and for how long that is waited for. Some do not wait, and some ask people as well.
func (u *Upstreamers) Declare(sources []schemas.Profile) {
	if u == nil {
		return
	}
	for i := range sources {
		p := &sources[i]
		if p.Escalation == nil || once(u.Rand, 8) {
			continue
		}
		if mode := pick(u.Rand, schemas.ExecutionSequence, schemas.ExecutionDAG, schemas.ExecutionDAG); p.Replan == nil {
			p.Execution.Mode = mode
		}
		p.Escalation.Planner = u.channel()
		if once(u.Rand, 2) {
			p.Escalation.Coordinator = u.channel()
		}
		p.Recovery = map[string]schemas.RecoveryWay{schemas.RecoveryDefault: pick(u.Rand, schemas.WayPlanner, schemas.WayPlanner, schemas.WayCoordinator)}
		for _, category := range []schemas.FailureCategory{schemas.CategoryDependency, schemas.CategoryCoordination, schemas.CategoryValidation} {
			if once(u.Rand, 3) {
				p.Recovery[string(category)] = pick(u.Rand, schemas.WayHuman, schemas.WayCoordinator, schemas.WayPlanner, schemas.WaySkip)
			}
		}
	}
}

func (u *Upstreamers) channel() *schemas.EscalationChannel {
	channel := &schemas.EscalationChannel{Upstream: true}
	if !once(u.Rand, 6) {
		channel.Wait = schemas.Duration(pick(u.Rand, Waits()...))
	}
	return channel
}

// Speaks reports whether somebody says something to what they are told of a request now: soon mostly, and not without end.
func (u *Upstreamers) Speaks(request string) bool {
	const most = 4
	if u.spoken[request] >= most || !once(u.Rand, 3) {
		return false
	}
	u.spoken[request]++
	return true
}

// Plan is another plan, of new tasks alone.
func (u *Upstreamers) Plan() string {
	u.plans++
	agent := pick(u.Rand, "alpha", "beta", "gamma")
	one := fmt.Sprintf(`{"task_id":"own%d","description":"%s once more","assigned_to":%q}`, u.plans, agent, agent)
	if once(u.Rand, 2) {
		return "[" + one + "]"
	}
	return fmt.Sprintf(`[%s,{"task_id":"then%d","description":"beta after that","assigned_to":"beta","dependencies":["own%d"]}]`, one, u.plans, u.plans)
}

// Keeping is another plan that keeps a task of the former one.
func (u *Upstreamers) Keeping(task string) string {
	u.plans++
	return fmt.Sprintf(`[{"task_id":"own%d","description":"alpha once more","assigned_to":"alpha"},{"task_id":%q}]`, u.plans, task)
}

// Unsound is a plan that nobody can carry out.
func (u *Upstreamers) Unsound(task string) string {
	return pick(u.Rand,
		`[{"task_id":"x","description":"beta","assigned_to":"nobody"}]`, `[{"task_id":"x","description":"beta","assigned_to":"beta","dependencies":["x"]}]`,
		`[]`, `[{"task_id":"x","description":"beta","assigned_to":"beta","dependencies":["nothing"]}]`,
		fmt.Sprintf(`[{"task_id":%q,"description":"something else","assigned_to":"alpha"}]`, task),
	)
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func once(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
