package supervisor

import (
	"context"
	"maps"
	"slices"
	"time"

	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor/plan"
)

// When nobody serves an agent, whoever waits for it is told so, on record, instead
// of waiting in silence for a deadline. The ledger is asked only about agents that
// something waits for and that have said nothing for a while.

const (
	// lookEvery is how often the owner looks after the agents that something waits for.
	lookEvery = time.Second
	// lookStale is how old its knowledge may be when it says that nobody serves one.
	lookStale = 2 * lookEvery
)

// A watchedAgent is what an owner knows of whether anybody serves an agent.
type watchedAgent struct {
	heard  time.Time        // the newest message of it in this shard
	looked time.Time        // when the ledger was asked last
	absent *schemas.Absence // of which agent, since when; nil while somebody serves it
	busy   bool             // the ledger is being asked
	asking []*conversation  // that want to know, once it has answered
	// unstarted are requests that nobody has begun; whether somebody could have, is
	// to be found out before its breaker counts them.
	unstarted []plan.BreakerEvent
}

// hear notes a sign of life.
func (o *Owner) hear(in *input) {
	p := o.pools[in.agent] // nil when it is no agent's
	if p == nil || !in.message.Recorded.After(p.agent.heard) {
		return
	}
	p.agent.heard = in.message.Recorded
	if o.now.Sub(p.agent.heard) < registry.AliveWithin {
		o.countUnstarted(in.agent, p, plan.BreakerEnded) // it may have come just now
		o.present(p)
	}
}

// present notes that somebody serves an agent: nobody has to be told otherwise.
func (o *Owner) present(p *pool) {
	p.agent.asking = nil
	if p.agent.absent != nil {
		p.agent.absent = nil
		o.absentees--
	}
}

// missed notes that nobody serves an agent, and reports whether that is news. Since
// when, is said anew each time: it may have been there and gone between two looks.
func (o *Owner) missed(agent string, p *pool, since time.Time) bool {
	if p.agent.heard.After(since) {
		since = p.agent.heard
	}
	o.countUnstarted(agent, p, plan.BreakerEnded)
	news := p.agent.absent == nil
	p.agent.absent = &schemas.Absence{Agent: agent, Since: since.UTC()}
	if news {
		o.absentees++
		said := o.Log.Warn().Str("agent", agent)
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
func (o *Owner) unstarted(task *plan.Task, event plan.BreakerEvent) {
	p := o.pool(task.Agent)
	absent := p.agent.absent != nil && o.now.Sub(p.agent.looked) <= lookStale
	switch {
	case task.Unserved != nil || absent:
		event.Kind = plan.BreakerEnded
		o.saw(task.Agent, event)
	case o.Presence == nil || o.now.Sub(p.agent.heard) < registry.AliveWithin:
		o.saw(task.Agent, event)
	default:
		p.agent.unstarted = append(p.agent.unstarted, event)
		o.lookDue = true
	}
}

// countUnstarted tells the agent's breaker of requests that nobody has begun.
func (o *Owner) countUnstarted(agent string, p *pool, kind plan.BreakerEventKind) {
	waiting := p.agent.unstarted
	p.agent.unstarted = nil
	for _, event := range waiting {
		event.Kind = kind
		o.saw(agent, event)
	}
}

// watchAgents has the owner look soon, when it has something that an agent is to do.
func (o *Owner) watchAgents() {
	if o.Presence != nil && (o.looking == nil || o.looking.index < 0) && !o.lookDue {
		o.looking = o.alarms.add(o.now.Add(lookEvery), func(time.Time) { o.lookDue = true })
	}
}

// lookAround looks after all agents that something waits for, once that is due.
func (o *Owner) lookAround(ctx context.Context) {
	if !o.lookDue {
		return
	}
	o.lookDue = false
	for _, agent := range slices.Sorted(maps.Keys(o.pools)) {
		p := o.pools[agent]
		if p.out == 0 && p.next() == nil && len(p.agent.unstarted) == 0 {
			p.agent.asking = nil
			continue
		}
		o.watchAgents()
		if o.caughtUp(o.now) && !p.agent.busy && o.now.Sub(p.agent.heard) >= registry.AliveWithin {
			o.look(ctx, agent, p)
		}
	}
}

func (o *Owner) look(ctx context.Context, agent string, p *pool) {
	p.agent.busy = true
	var found registry.Presence
	began := o.now
	o.operate(func() (err error) {
		found, err = o.Presence(ctx, agent, began)
		return err
	}, func(_ time.Time, err error) {
		p.agent.busy = false
		asking := p.agent.asking
		p.agent.asking = nil
		if err != nil {
			o.Log.Warn().Err(err).Str("agent", agent).Msg("whether anybody serves the agent is not known")
			p.agent.asking = asking
			return
		}
		p.agent.looked = began
		switch {
		case found.Served || o.now.Sub(p.agent.heard) < registry.AliveWithin:
			o.countUnstarted(agent, p, plan.BreakerFailed)
			o.present(p)
		case o.missed(agent, p, found.LastSeen):
			asking = o.waitingFor(agent)
		}
		for _, c := range asking {
			if o.sessions[c.id] == c {
				o.push(c)
			}
		}
	})
}

// waitingFor lists the conversations that wait for an agent and have not been told
// that nobody serves it.
func (o *Owner) waitingFor(agent string) (waiting []*conversation) {
	for _, id := range slices.Sorted(maps.Keys(o.sessions)) {
		for task := range o.sessions[id].state.Unserved {
			if task.Agent == agent {
				waiting = append(waiting, o.sessions[id])
				break
			}
		}
	}
	return waiting
}

// absence returns an agent that a conversation waits for and that nobody serves.
// What is known may be old: then the conversation goes on when it is looked at anew.
func (o *Owner) absence(c *conversation, now time.Time) *schemas.Absence {
	if o.absentees == 0 {
		return nil
	}
	for task := range c.state.Unserved {
		p := o.pools[task.Agent]
		switch {
		case p == nil || p.agent.absent == nil:
		case now.Sub(p.agent.looked) > lookStale:
			if !slices.Contains(p.agent.asking, c) {
				p.agent.asking = append(p.agent.asking, c)
			}
		default:
			absence := *p.agent.absent
			absence.Run, absence.Task = c.state.Active.Number, task.ID
			return &absence
		}
	}
	return nil
}
