package admission

import (
	"container/heap"

	"podium/supervisor/plan"
)

// lets has the most urgent waiter go on, and reports whether the one behind it may
// be looked at. One whose breaker is open goes on as well: to be refused. If the
// agent delivers the answer, too, that needs room: no breaker refuses an answer.
func (a *Controller) lets(p *pool, w *waiter) bool {
	passage := a.passageOf(w)
	refused := passage == plan.PassageClosed
	switch {
	case refused && !w.c.repliesBy(w.agent):
		heap.Pop(&p.waiters)
		a.hand(w)
		return true
	case !a.room(p):
		return false
	case passage == plan.PassageClaimed:
		a.claim(w)
		return false
	}
	heap.Pop(&p.waiters)
	if refused || a.equipped(w) {
		p.reserved++
		w.reserved = true
		a.hand(w)
	}
	return true
}

// passageOf returns what the breaker of its agent says to a waiter.
func (a *Controller) passageOf(w *waiter) plan.Passage {
	passage := a.passage(w.agent, w.request)
	if w.first && passage == plan.PassageClosed {
		return plan.PassageFree // an answer is worth the try
	}
	return passage
}

// hand gives a waiter its grant.
func (a *Controller) hand(w *waiter) {
	w.gone = true
	w.c.grants = append(w.c.grants, w)
	a.wake(w.c)
}

// outranked reports whether somebody who goes before a waiter lacks nothing but room.
// Who has resources keeps its room: others wait for them.
func (a *Controller) outranked(w *waiter) bool {
	p := a.pool(w.agent)
	return p.limit > 0 && len(w.resources) == 0 && p.waiters.anyBefore(w, 0, func(first *waiter) bool {
		return !first.gone && a.holdsFor(first) && a.passageOf(first) == plan.PassageFree
	})
}
