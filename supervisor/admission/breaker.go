package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/plan"
)

// An agent that fails is not asked for a while (M-28). What all owners have seen
// of it stands in the ledger, so that it is barred for everybody at once, and
// tried again by one request alone. Each owner adds what its records say, decides
// by what it knows, and looks at the ledger again when that is older than
// breakerStale: while it looks, what it would let through goes, and what it would
// refuse waits. An owner that has nothing for the agent does not look.

// A breaker is an agent's circuit breaker as this owner knows it.
type breaker struct {
	agent  string
	policy plan.BreakerPolicy
	read   time.Time           // when the ledger was read last
	stored schemas.Breaker     // what it said
	events []plan.BreakerEvent // that it does not know yet
	value  schemas.Breaker     // stored, and after that the events
	probe  *dispatch           // who would be the probe, until the ledger has said so
	queued bool                // in Controller.unsynced
	busy   bool                // an operation is under way
	tries  int                 // that have failed in a row
	again  time.Time           // when the next may begin
}

// breakerStale is how old an owner's knowledge may be when it decides by it.
const breakerStale = time.Second

// breaker returns the breaker of an agent; nil when there are none.
func (a *Controller) breaker(agent string) *breaker {
	if a.Breaker == nil {
		return nil
	}
	b := a.breakers[agent]
	if b == nil {
		b = &breaker{agent: agent, policy: a.Breaker(agent)}
		a.breakers[agent] = b
	}
	return b
}

// openBreakers reads what the ledger knows, before the first decision.
func (a *Controller) openBreakers(ctx context.Context) error {
	if a.Breaker == nil {
		return nil
	}
	store := a.Core.Store(bus.AgentBucket)
	keys, err := store.Keys(ctx)
	for _, key := range keys {
		agent, is := registry.BreakerAgent(key)
		if !is || err != nil {
			continue
		}
		b := a.breaker(agent)
		b.stored, err = compareAndSet(ctx, store, key, func(*schemas.Breaker) (bool, error) { return false, nil })
		b.value, b.read = b.stored, a.now
	}
	if err != nil {
		return fmt.Errorf("read the breakers of the agents: %w", err)
	}
	return nil
}

// passage returns what the breaker of an agent says to a request; one that has no
// id yet is empty.
func (a *Controller) passage(agent, request string) plan.Passage {
	b := a.breaker(agent)
	if b == nil || b.policy.Failures <= 0 {
		return plan.PassageAllow
	}
	stale := a.now.Sub(b.read) >= breakerStale
	if stale && !a.now.Before(b.again) {
		a.scheduleSync(b)
	}
	passage := b.policy.Passage(&b.value, request, a.now)
	if passage == plan.PassageDeny && stale {
		return plan.PassageProbing // nobody is refused by what may not be so any more
	}
	return passage
}

// Observe takes from a record what it says of the agents that were asked, given the
// session before it.
func (a *Controller) Observe(s *Demand, record *schemas.Record) {
	if a.Breaker == nil {
		return
	}
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		a.observeFacts(s, transition)
	}
}

func (a *Controller) observeFacts(s *Demand, transition *schemas.Transition) {
	for _, f := range transition.Facts {
		if asked, is := f.(*schemas.TaskDispatched); is {
			a.record(asked.Agent, plan.BreakerEvent{
				Kind: plan.BreakerAsked, Request: schemas.AttemptOf(asked.Request), At: transition.Cause.Time, Until: asked.Expires,
			})
			continue
		}
		kind, says := plan.BreakerEventOf(f)
		if !says || s.State.Active == nil || s.State.Active.Number != schemas.RunOf(f) {
			continue
		}
		task := s.State.Active.Task(schemas.TaskOf(f))
		if task == nil || !task.State.UnderWay() {
			continue
		}
		event := plan.BreakerEvent{Kind: kind, Request: schemas.AttemptOf(task.Request), At: transition.Cause.Time}
		if transition.Cause.Deadline != nil && strings.Contains(s.inherited, task.Request) {
			event.Kind = plan.BreakerEnded // its time ran while nobody was here to hear the agent
		}
		if failed, is := f.(*schemas.TaskFailed); is && failed.Cause == schemas.FailureNotStarted && event.Kind == plan.BreakerFailed {
			a.unstarted(task, event)
		} else {
			a.record(task.Agent, event)
		}
	}
}

// record notes an event that changes something, and has the ledger told.
func (a *Controller) record(agent string, event plan.BreakerEvent) {
	b := a.breaker(agent)
	if b == nil {
		return
	}
	value, changed := b.policy.Change(b.value, event)
	if !changed {
		return
	}
	if value.State != b.value.State {
		a.withCapacity = append(a.withCapacity, agent) // those who wait may go, or are refused
		if !plan.Bars(&value) {
			a.requeue(agent)
		}
		a.Log.Info().Str("agent", agent).Str("breaker", string(value.State)).Msg("the agent's breaker changes")
	}
	b.value, b.events = value, append(b.events, event)
	a.scheduleSync(b)
}

// claimProbe asks for the right to be the probe.
func (a *Controller) claimProbe(d *dispatch) {
	if b := a.breaker(d.agent); b != nil && b.probe == nil {
		b.probe = d
		a.scheduleSync(b)
	}
}

// releaseProbe gives the probe to somebody else when the dispatch that has it, or may
// have it soon, goes without having asked.
func (a *Controller) releaseProbe(d *dispatch) {
	if a.Breaker != nil {
		a.record(d.agent, plan.BreakerEvent{Kind: plan.BreakerEnded, Request: d.request, At: a.now})
	}
}

// scheduleSync has the ledger told what it does not know yet, or read again.
func (a *Controller) scheduleSync(b *breaker) {
	if !b.queued && !b.busy {
		b.queued = true
		a.unsynced = append(a.unsynced, b)
	}
}

// syncAll begins the operations that wait.
func (a *Controller) syncAll(ctx context.Context) {
	waiting := a.unsynced
	a.unsynced = nil
	for _, b := range waiting {
		b.queued = false
		a.sync(ctx, b)
	}
}

// sync brings what this owner has seen of an agent together with what all have.
func (a *Controller) sync(ctx context.Context, b *breaker) {
	told, probe := len(b.events), b.probe
	events := slices.Clone(b.events)
	if probe != nil {
		events = append(events, plan.BreakerEvent{Kind: plan.BreakerClaimed, Request: probe.request, At: a.now})
	}
	var found schemas.Breaker
	store := a.Core.Store(bus.AgentBucket)
	b.busy = true
	a.Loop.Await(func() (err error) {
		found, err = compareAndSet(ctx, store, registry.BreakerKey(b.agent), func(value *schemas.Breaker) (changed bool, _ error) {
			*value, changed = b.policy.Change(*value, events...)
			return changed, nil
		})
		return err
	}, func(now time.Time, err error) {
		b.busy = false
		if err != nil {
			a.Log.Warn().Err(err).Str("agent", b.agent).Msg("the agent's breaker is not shared yet")
			b.again = now.Add(a.Backoff.After(b.tries))
			b.tries++
			a.Loop.At(b.again, func(time.Time) { a.scheduleSync(b) })
			return
		}
		b.tries, b.read, b.stored = 0, now, found
		b.events = slices.Clone(b.events[told:])
		barred := plan.Bars(&b.value)
		b.value, _ = b.policy.Change(found, b.events...)
		if barred && !plan.Bars(&b.value) {
			a.requeue(b.agent)
		}
		if probe != nil {
			b.probe = nil
			if probe.gone {
				a.releaseProbe(probe)
			}
		}
		a.withCapacity = append(a.withCapacity, b.agent)
		if len(b.events) > 0 || b.probe != nil {
			a.scheduleSync(b)
		}
	})
}
