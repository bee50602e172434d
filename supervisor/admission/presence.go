package admission

import (
	"context"
	"maps"
	"slices"
	"time"

	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/circuit"
	"podium/supervisor/eventloop"
)

// A watchedAgent is what a controller knows of whether anybody serves an agent.
type watchedAgent struct {
	heard  time.Time        // the newest message of it in this shard
	looked time.Time        // when the ledger was asked last
	absent *schemas.Absence // of which agent, since when; nil while somebody serves it
	busy   bool             // the ledger is being asked
	asking []*Demand        // that want to know, once it has answered
	// unstarted are requests that nobody has begun; whether somebody could have, is
	// to be found out before its breaker counts them.
	unstarted []circuit.Event
}

// ObserveAgent notes a sign of life.
func (c *Controller) ObserveAgent(agent string, at time.Time) {
	p := c.pools[agent] // nil when it is no agent's
	if p == nil || !at.After(p.agent.heard) {
		return
	}
	p.agent.heard = at
	if c.now.Sub(p.agent.heard) < registry.AliveWithin {
		c.countUnstarted(agent, p, circuit.Ended) // it may have come just now
		c.present(p)
	}
}

// present notes that somebody serves an agent: nobody has to be told otherwise.
func (c *Controller) present(p *pool) {
	p.agent.asking = nil
	if p.agent.absent != nil {
		p.agent.absent = nil
		c.absentees--
	}
}

// missed notes that nobody serves an agent, and reports whether that is news. Since
// when, is said anew each time: it may have been there and gone between two looks.
func (c *Controller) missed(agent string, p *pool, since time.Time) bool {
	if p.agent.heard.After(since) {
		since = p.agent.heard
	}
	c.countUnstarted(agent, p, circuit.Ended)
	news := p.agent.absent == nil
	p.agent.absent = &schemas.Absence{Agent: agent, Since: since.UTC()}
	if news {
		c.absentees++
		said := c.Log.Warn().Str("agent", agent)
		if !since.IsZero() { // else it has never been there
			said = said.Time("since", since)
		}
		said.Msg("nobody serves the agent, and something waits for it")
	}
	return news
}

// unstarted takes a request that nobody has begun in time. That is the agent's failure
// when somebody serves it; an agent that is not there has failed at nothing, and is
// asked as soon as it comes.
func (c *Controller) unstarted(task *workflow.Task, event circuit.Event) {
	p := c.pool(task.Agent)
	absent := p.agent.absent != nil && c.now.Sub(p.agent.looked) <= lookStale
	switch {
	case task.Unserved != nil || absent:
		event.Kind = circuit.Ended
		c.record(task.Agent, event)
	case c.Presence == nil || c.now.Sub(p.agent.heard) < registry.AliveWithin:
		c.record(task.Agent, event)
	default:
		p.agent.unstarted = append(p.agent.unstarted, event)
		c.lookDue = true
	}
}

// countUnstarted tells the agent's breaker of requests that nobody has begun.
func (c *Controller) countUnstarted(agent string, p *pool, kind circuit.EventKind) {
	waiting := p.agent.unstarted
	p.agent.unstarted = nil
	for _, event := range waiting {
		event.Kind = kind
		c.record(agent, event)
	}
}

// watchAgents has the owner look soon, when it has something that an agent is to do.
func (c *Controller) watchAgents() {
	if _, set := c.looking.Due(); !set && c.Presence != nil && !c.lookDue {
		c.looking = c.Loop.At(c.now.Add(lookEvery), func(time.Time) { c.lookDue = true })
	}
}

// CheckPresence looks after all agents that something waits for, once that is due. Nobody is
// called away before what had happened before the takeover has been read.
func (c *Controller) CheckPresence(ctx context.Context, caughtUp bool) {
	if !c.lookDue {
		return
	}
	c.lookDue = false
	for _, agent := range slices.Sorted(maps.Keys(c.pools)) {
		p := c.pools[agent]
		if p.underWay == 0 && p.next() == nil && len(p.agent.unstarted) == 0 {
			p.agent.asking = nil
			continue
		}
		c.watchAgents()
		if caughtUp && !p.agent.busy && c.now.Sub(p.agent.heard) >= registry.AliveWithin {
			c.look(ctx, agent, p)
		}
	}
}

func (c *Controller) look(ctx context.Context, agent string, p *pool) {
	p.agent.busy = true
	began := c.now
	eventloop.StartResult(c.Loop, func() (registry.Presence, error) {
		return c.Presence(ctx, agent, began)
	}, func(_ time.Time, found registry.Presence, err error) {
		p.agent.busy = false
		asking := p.agent.asking
		p.agent.asking = nil
		if err != nil {
			c.Log.Warn().Err(err).Str("agent", agent).Msg("whether anybody serves the agent is not known")
			p.agent.asking = asking
			return
		}
		p.agent.looked = began
		switch {
		case found.Served || c.now.Sub(p.agent.heard) < registry.AliveWithin:
			c.countUnstarted(agent, p, circuit.Failed)
			c.present(p)
		case c.missed(agent, p, found.LastSeen):
			asking = c.waitingFor(agent)
		}
		for _, demand := range asking {
			if c.Sessions.Live(demand) {
				c.markReady(demand)
			}
		}
	})
}

// waitingFor lists the sessions that wait for an agent and have not been told
// that nobody serves it.
func (c *Controller) waitingFor(agent string) (waiting []*Demand) {
	for demand := range c.Sessions.InOrder() {
		for task := range demand.State.AwaitingAgent {
			if task.Agent == agent {
				waiting = append(waiting, demand)
				break
			}
		}
	}
	return waiting
}

// Absence returns an agent that a session waits for and that nobody serves, or nil.
// What is known may be old: then the session goes on when it is looked at anew.
func (c *Controller) Absence(demand *Demand, now time.Time) *schemas.Absence {
	if c.absentees == 0 {
		return nil
	}
	for task := range demand.State.AwaitingAgent {
		p := c.pools[task.Agent]
		switch {
		case p == nil || p.agent.absent == nil:
		case now.Sub(p.agent.looked) > lookStale:
			if !slices.Contains(p.agent.asking, demand) {
				p.agent.asking = append(p.agent.asking, demand)
			}
		default:
			absence := *p.agent.absent
			absence.Run, absence.Task = demand.State.Active.Number, task.ID
			return &absence
		}
	}
	return nil
}

// When nobody serves an agent, whoever waits for it is told so, on record, instead
// of waiting in silence for a deadline. The ledger is asked only about agents that
// something waits for and that have said nothing for a while.

const (
	// lookEvery is how often the controller looks after the agents that something waits for.
	lookEvery = time.Second
	// lookStale is how old its knowledge may be when it says that nobody serves one.
	lookStale = 2 * lookEvery
)
