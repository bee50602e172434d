package supervisor

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
	probe  *waiter             // who would be the probe, until the ledger has said so
	queued bool                // in Owner.unconsulted
	busy   bool                // an operation is under way
	tries  int                 // that have failed in a row
	again  time.Time           // when the next may begin
}

// breakerStale is how old an owner's knowledge may be when it decides by it.
const breakerStale = time.Second

// breaker returns the breaker of an agent; nil when there are none.
func (o *Owner) breaker(agent string) *breaker {
	if o.Breaker == nil {
		return nil
	}
	b := o.breakers[agent]
	if b == nil {
		b = &breaker{agent: agent, policy: o.Breaker(agent)}
		o.breakers[agent] = b
	}
	return b
}

// openBreakers reads what the ledger knows, before the first decision.
func (o *Owner) openBreakers(ctx context.Context) error {
	if o.Breaker == nil {
		return nil
	}
	store := o.Core.Store(bus.AgentBucket)
	keys, err := store.Keys(ctx)
	for _, key := range keys {
		agent, is := registry.BreakerAgent(key)
		if !is || err != nil {
			continue
		}
		b := o.breaker(agent)
		b.stored, err = amend(ctx, store, key, func(*schemas.Breaker) (bool, error) { return false, nil })
		b.value, b.read = b.stored, o.now
	}
	if err != nil {
		return fmt.Errorf("read the breakers of the agents: %w", err)
	}
	return nil
}

// passage returns what the breaker of an agent says to a request; one that has no
// id yet is empty.
func (o *Owner) passage(agent, request string) plan.Passage {
	b := o.breaker(agent)
	if b == nil || b.policy.Failures <= 0 {
		return plan.PassageFree
	}
	stale := o.now.Sub(b.read) >= breakerStale
	if stale && !o.now.Before(b.again) {
		o.consult(b)
	}
	passage := b.policy.Passage(&b.value, request, o.now)
	if passage == plan.PassageClosed && stale {
		return plan.PassageClaimed // nobody is refused by what may not be so any more
	}
	return passage
}

// heed takes from a record what it says of the agents that were asked, given the
// conversation before it.
func (o *Owner) heed(c *conversation, record *schemas.Record) {
	if o.Breaker == nil {
		return
	}
	for transition := range record.Transitions() {
		o.heedFacts(c, transition)
	}
}

func (o *Owner) heedFacts(c *conversation, transition *schemas.Transition) {
	for i := range transition.Facts {
		f := &transition.Facts[i]
		if asked := f.TaskDispatched; asked != nil {
			o.saw(asked.Agent, plan.BreakerEvent{
				Kind: plan.BreakerAsked, Request: asked.Request, At: transition.Cause.Time, Until: asked.Expires,
			})
			continue
		}
		kind, says := plan.BreakerEventOf(f)
		if !says || c.state.Active == nil || c.state.Active.Number != f.Run() {
			continue
		}
		task := c.state.Active.Task(f.Task())
		if task == nil || !task.State.UnderWay() {
			continue
		}
		event := plan.BreakerEvent{Kind: kind, Request: task.Request, At: transition.Cause.Time}
		if transition.Cause.Deadline != nil && strings.Contains(c.inherited, task.Request) {
			event.Kind = plan.BreakerEnded // its time ran while nobody was here to hear the agent
		}
		if failed := f.TaskFailed; failed != nil && failed.Cause == schemas.FailureNotStarted && event.Kind == plan.BreakerFailed {
			o.unstarted(task, event)
		} else {
			o.saw(task.Agent, event)
		}
	}
}

// saw notes an event that changes something, and has the ledger told.
func (o *Owner) saw(agent string, event plan.BreakerEvent) {
	b := o.breaker(agent)
	if b == nil {
		return
	}
	value, changed := b.policy.Change(b.value, event)
	if !changed {
		return
	}
	if value.State != b.value.State {
		o.roomy = append(o.roomy, agent) // those who wait may go, or are refused
		if !plan.Bars(&value) {
			o.readmit(agent)
		}
		o.Log.Info().Str("agent", agent).Str("breaker", string(value.State)).Msg("the agent's breaker changes")
	}
	b.value, b.events = value, append(b.events, event)
	o.consult(b)
}

// claim asks for the right to be the probe.
func (o *Owner) claim(w *waiter) {
	if b := o.breaker(w.agent); b != nil && b.probe == nil {
		b.probe = w
		o.consult(b)
	}
}

// unclaim gives the probe to somebody else when the waiter that has it, or may
// have it soon, goes without having asked.
func (o *Owner) unclaim(w *waiter) {
	if o.Breaker != nil {
		o.saw(w.agent, plan.BreakerEvent{Kind: plan.BreakerEnded, Request: w.request, At: o.now})
	}
}

// consult has the ledger told what it does not know yet, or read again.
func (o *Owner) consult(b *breaker) {
	if !b.queued && !b.busy {
		b.queued = true
		o.unconsulted = append(o.unconsulted, b)
	}
}

// consultAll begins the operations that wait.
func (o *Owner) consultAll(ctx context.Context) {
	waiting := o.unconsulted
	o.unconsulted = nil
	for _, b := range waiting {
		b.queued = false
		o.share(ctx, b)
	}
}

// share brings what this owner has seen of an agent together with what all have.
func (o *Owner) share(ctx context.Context, b *breaker) {
	told, probe := len(b.events), b.probe
	events := slices.Clone(b.events)
	if probe != nil {
		events = append(events, plan.BreakerEvent{Kind: plan.BreakerClaimed, Request: probe.request, At: o.now})
	}
	var found schemas.Breaker
	store := o.Core.Store(bus.AgentBucket)
	b.busy = true
	o.operate(func() (err error) {
		found, err = amend(ctx, store, registry.BreakerKey(b.agent), func(value *schemas.Breaker) (changed bool, _ error) {
			*value, changed = b.policy.Change(*value, events...)
			return changed, nil
		})
		return err
	}, func(now time.Time, err error) {
		b.busy = false
		if err != nil {
			o.Log.Warn().Err(err).Str("agent", b.agent).Msg("the agent's breaker is not shared yet")
			b.again = now.Add(o.backoff(b.tries))
			b.tries++
			o.alarms.add(b.again, func(time.Time) { o.consult(b) })
			return
		}
		b.tries, b.read, b.stored = 0, now, found
		b.events = slices.Clone(b.events[told:])
		barred := plan.Bars(&b.value)
		b.value, _ = b.policy.Change(found, b.events...)
		if barred && !plan.Bars(&b.value) {
			o.readmit(b.agent)
		}
		if probe != nil {
			b.probe = nil
			if probe.gone {
				o.unclaim(probe)
			}
		}
		o.roomy = append(o.roomy, b.agent)
		if len(b.events) > 0 || b.probe != nil {
			o.consult(b)
		}
	})
}
