package admission

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// A decision is what one decision of a session knows of the agents.
type decision struct {
	controller *Controller
	c          *Session
	now        time.Time
	granted    *waiter  // whose grant is decided, until it is admitted
	barred     []string // agents that were unavailable before
}

// Decision returns what a decision of a session may ask. What it is admitted to is taken
// back by Release, or counted by Track once it is stored.
func (a *Controller) Decision(c *Session, read *session.Input) plan.Bus {
	d := &decision{controller: a, c: c, now: read.Now}
	if read.Grant != nil {
		d.granted = c.grants[0]
	}
	return d
}

// Admit implements plan.Bus. Nobody finds room while somebody waits for it: what has
// become free since the grants of this Tick were given is for those who wait. Room
// comes before the breaker, because what it refuses may go all the same (see
// plan.Turn.Grant).
func (d *decision) Admit(agent string) plan.Admission {
	if slices.Contains(d.barred, agent) {
		return plan.Unavailable
	}
	w := d.granted
	if w != nil && w.agent == agent {
		d.granted = nil
		return d.bar(agent, d.controller.passage(agent, w.request))
	}
	p := d.controller.pool(agent)
	if !d.controller.room(p) || p.limit > 0 && p.next() != nil {
		return plan.Full
	}
	admission := d.bar(agent, d.controller.passage(agent, ""))
	if admission != plan.Full {
		p.reserved++
		d.c.reserved = append(d.c.reserved, agent)
	}
	return admission
}

func (d *decision) bar(agent string, passage plan.Passage) plan.Admission {
	switch passage {
	case plan.PassageClosed:
		d.barred = append(d.barred, agent)
		return plan.Unavailable
	case plan.PassageClaimed:
		return plan.Full // it waits until the ledger has said who may be the probe
	case plan.PassageFree:
	}
	return plan.Admitted
}

// Reuse implements plan.Bus.
func (d *decision) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	return d.controller.answers.find(agent, input, d.now.Add(-age))
}

// Brings implements plan.Bus.
func (d *decision) Brings() bool { return d.controller.Core.Server() != "" }
