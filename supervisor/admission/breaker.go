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
	"podium/supervisor/circuit"
	"podium/supervisor/eventloop"
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
	policy circuit.Policy
	read   time.Time       // when the ledger was read last
	stored schemas.Breaker // what it said
	events []circuit.Event // that it does not know yet
	value  schemas.Breaker // stored, and after that the events
	probe  *waitingTask    // who would be the probe, until the ledger has said so
	queued bool            // in Controller.unsynced
	busy   bool            // an operation is under way
	tries  int             // that have failed in a row
	again  time.Time       // when the next may begin
}

// breakerStale is how old an owner's knowledge may be when it decides by it.
const breakerStale = time.Second

// breaker returns the breaker of an agent; nil when there are none.
func (c *Controller) breaker(agent string) *breaker {
	if c.Breaker == nil {
		return nil
	}
	b := c.breakers[agent]
	if b == nil {
		b = &breaker{agent: agent, policy: c.Breaker(agent)}
		c.breakers[agent] = b
	}
	return b
}

// openBreakers reads what the ledger knows, before the first decision.
func (c *Controller) openBreakers(ctx context.Context) error {
	if c.Breaker == nil {
		return nil
	}
	store := c.Core.KeyValue(bus.AgentBucket)
	keys, err := store.Keys(ctx)
	for _, key := range keys {
		agent, is := registry.BreakerAgent(key)
		if !is || err != nil {
			continue
		}
		b := c.breaker(agent)
		b.stored, err = compareAndSet(ctx, store, key, func(*schemas.Breaker) (bool, error) { return false, nil })
		b.value, b.read = b.stored, c.now
	}
	if err != nil {
		return fmt.Errorf("read the breakers of the agents: %w", err)
	}
	return nil
}

// breakerVerdict returns what the breaker of an agent says to a request; one that has no
// id yet is empty. Who is barred is refused like one whose breaker is open.
func (c *Controller) breakerVerdict(agent, request string) circuit.Verdict {
	if c.Barred != nil && c.Barred(agent, c.now) {
		return circuit.Deny
	}
	b := c.breaker(agent)
	if b == nil || b.policy.Failures <= 0 {
		return circuit.Allow
	}
	stale := c.now.Sub(b.read) >= breakerStale
	if stale && !c.now.Before(b.again) {
		c.scheduleSync(b)
	}
	verdict := b.policy.Verdict(&b.value, request, c.now)
	if verdict == circuit.Deny && stale {
		return circuit.Probing // nobody is refused by what may not be so any more
	}
	return verdict
}

// Observe takes from a record what it says of the agents that were asked, given the
// session before it.
func (c *Controller) Observe(demand *Demand, record *schemas.Record) {
	if c.Breaker == nil {
		return
	}
	for i := range record.Transitions {
		c.observeTransition(demand, &record.Transitions[i])
	}
}

func (c *Controller) observeTransition(demand *Demand, transition *schemas.Transition) {
	for _, f := range transition.Facts {
		if asked, is := f.(*schemas.TaskDispatched); is {
			c.record(asked.Agent, circuit.Event{
				Kind: circuit.Dispatched, Request: schemas.AttemptKey(asked.Request), At: transition.Cause.Time, Until: asked.Expires,
			})
			continue
		}
		kind, says := circuit.EventOf(f)
		if !says || demand.State.Active == nil || demand.State.Active.Number != schemas.RunOf(f) {
			continue
		}
		task := demand.State.Active.Task(schemas.TaskOf(f))
		if task == nil || !task.State.UnderWay() {
			continue
		}
		event := circuit.Event{Kind: kind, Request: schemas.AttemptKey(task.Request), At: transition.Cause.Time}
		if transition.Cause.Deadline != nil && strings.Contains(demand.inherited, task.Request) {
			event.Kind = circuit.Ended // its time ran while nobody was here to hear the agent
		}
		if failed, is := f.(*schemas.TaskFailed); is {
			event.Cause, event.Run = failed.Cause, schemas.RunID(demand.State.Session, failed.Run)
		}
		if failed, is := f.(*schemas.TaskFailed); is && failed.Cause == schemas.FailureNotStarted && event.Kind == circuit.Failed {
			c.unstarted(task, event)
		} else {
			c.record(task.Agent, event)
		}
	}
}

// record notes an event that changes something, and has the ledger told.
func (c *Controller) record(agent string, event circuit.Event) {
	b := c.breaker(agent)
	if b == nil {
		return
	}
	value, changed := b.policy.Change(b.value, event)
	if !changed {
		return
	}
	if value.State != b.value.State {
		c.withCapacity = append(c.withCapacity, agent) // those who wait may go, or are refused
		if !circuit.Blocks(&value) {
			c.requeue(agent)
		}
		c.Log.Info().Str("agent", agent).Str("breaker", string(value.State)).Msg("the agent's breaker changes")
	}
	b.value, b.events = value, append(b.events, event)
	c.scheduleSync(b)
}

// claimProbe asks for the right to be the probe.
func (c *Controller) claimProbe(d *waitingTask) {
	if b := c.breaker(d.agent); b != nil && b.probe == nil {
		b.probe = d
		c.scheduleSync(b)
	}
}

// releaseProbe gives the probe to somebody else when the waiting task that has it, or may
// have it soon, goes without having asked.
func (c *Controller) releaseProbe(d *waitingTask) {
	if c.Breaker != nil {
		c.record(d.agent, circuit.Event{Kind: circuit.Released, Request: d.request, At: c.now})
	}
}

// scheduleSync has the ledger told what it does not know yet, or read again.
func (c *Controller) scheduleSync(b *breaker) {
	if !b.queued && !b.busy {
		b.queued = true
		c.unsynced = append(c.unsynced, b)
	}
}

// syncAll begins the operations that wait.
func (c *Controller) syncAll(ctx context.Context) {
	waiting := c.unsynced
	c.unsynced = nil
	for _, b := range waiting {
		b.queued = false
		c.sync(ctx, b)
	}
}

// sync brings what this owner has seen of an agent together with what all have.
func (c *Controller) sync(ctx context.Context, b *breaker) {
	told, probe := len(b.events), b.probe
	events := slices.Clone(b.events)
	if probe != nil {
		events = append(events, circuit.Event{Kind: circuit.ProbeClaimed, Request: probe.request, At: c.now})
	}
	store := c.Core.KeyValue(bus.AgentBucket)
	b.busy = true
	eventloop.StartResult(c.Loop, func() (schemas.Breaker, error) {
		return compareAndSet(ctx, store, registry.BreakerKey(b.agent), func(value *schemas.Breaker) (changed bool, _ error) {
			*value, changed = b.policy.Change(*value, events...)
			return changed, nil
		})
	}, func(now time.Time, found schemas.Breaker, err error) {
		b.busy = false
		if err != nil {
			c.Log.Warn().Err(err).Str("agent", b.agent).Msg("the agent's breaker is not shared yet")
			b.again = now.Add(c.Backoff.After(b.tries))
			b.tries++
			c.Loop.At(b.again, func(time.Time) { c.scheduleSync(b) })
			return
		}
		b.tries, b.read, b.stored = 0, now, found
		b.events = slices.Clone(b.events[told:])
		barred := circuit.Blocks(&b.value)
		b.value, _ = b.policy.Change(found, b.events...)
		if barred && !circuit.Blocks(&b.value) {
			c.requeue(b.agent)
		}
		if probe != nil {
			b.probe = nil
			if probe.gone {
				c.releaseProbe(probe)
			}
		}
		c.withCapacity = append(c.withCapacity, b.agent)
		if len(b.events) > 0 || b.probe != nil {
			c.scheduleSync(b)
		}
	})
}
