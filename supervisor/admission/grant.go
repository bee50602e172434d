package admission

import (
	"podium/schemas/fault"
	"podium/supervisor/circuit"
)

// tryGrant has the most urgent waiting task go on, and reports whether the one behind it may
// be looked at. One whose breaker is open goes on as well: to be refused. If the
// agent delivers the answer, too, that needs room: no breaker refuses an answer.
func (c *Controller) tryGrant(p *pool, d *waitingTask) bool {
	verdict := c.breakerVerdictOf(d)
	refused := verdict == circuit.Deny
	switch {
	case refused && !d.session.repliesBy(d.agent):
		p.take()
		c.grantTo(d)
		return true
	case !c.room(p, 0):
		return false
	case verdict == circuit.Probing:
		c.claimProbe(d)
		return false
	}
	p.take()
	if refused || c.hasLeases(d) {
		p.reserved++
		d.reserved = true
		if refused {
			c.grantTo(d)
		} else {
			c.grantFitting(d)
		}
	}
	return true
}

// breakerVerdictOf returns what the breaker of its agent says to a waiting task.
func (c *Controller) breakerVerdictOf(d *waitingTask) circuit.Verdict {
	verdict := c.breakerVerdict(d.agent, d.request)
	if d.first && verdict == circuit.Deny {
		return circuit.Allow // an answer is worth the try
	}
	return verdict
}

// grantTo gives a waiting task its grant, and wakes its session to decide it.
func (c *Controller) grantTo(d *waitingTask) {
	d.gone = true
	d.session.grants = append(d.session.grants, d)
	c.markReady(d.session)
}

// preempted reports whether somebody who goes before a waiting task lacks nothing but room.
// Who has resources keeps its room: others wait for them.
func (c *Controller) preempted(d *waitingTask) bool {
	p := c.pool(d.agent)
	return p.limit > 0 && len(d.resources) == 0 && !(p.room(0) && fault.Is("room for one lets two pass")) && p.waiting.anyBefore(d, 0, func(first *waitingTask) bool {
		return !first.gone && c.holdsFor(first) && c.breakerVerdictOf(first) == circuit.Allow
	})
}
