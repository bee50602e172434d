package admission

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// A Session is what the controller knows of a live session. Its owner keeps it, and gives
// it the State once.
type Session struct {
	State *session.State // of the live session

	asked []string // the agents of its requests under way
	// inherited are those of its requests under way that a former owner has made, one behind
	// the other.
	inherited string
	reserved  []string                  // the agents that the decision at hand has been admitted to
	waits     map[schemas.Grant]*waiter // its ready tasks
	grants    []*waiter                 // that may be dispatched
	usages    []*usage                  // what its tasks have to do with shared resources
}

// Inherit notes which of its requests a former owner has made, once it was loaded.
func (c *Session) Inherit() {
	c.inherited = ""
	if run := c.State.Active; run != nil {
		for task := range run.All {
			if task.State.UnderWay() {
				c.inherited += task.Request
			}
		}
	}
}

// awaits reports whether a grant still has something to be used for: its task may
// wait for another agent by now, whose grant it is not.
func (c *Session) awaits(w *waiter) bool { return c.waits[w.grant] == w }

// Granted returns the first grant that a session has not used.
func (c *Session) Granted() (grant schemas.Grant, some bool) {
	if len(c.grants) == 0 {
		return schemas.Grant{}, false
	}
	return c.grants[0].grant, true
}

// Track counts what a session has under way and lists what of it waits, once its state is
// the ledger's.
func (a *Controller) Track(c *Session) {
	a.Release(c)
	a.follow(c)
	for _, agent := range c.asked {
		a.freed(agent, func(p *pool) { p.out-- })
	}
	c.asked = c.asked[:0]
	if c.State.Active != nil {
		a.watchAgents()
	}
	for task := range c.State.UnderWay {
		c.asked = append(c.asked, task.Agent)
		a.pool(task.Agent).out++
	}
	var still map[schemas.Grant]*waiter
	for grant, task := range c.State.Waiting {
		w := c.waits[grant]
		if w == nil || w.agent != task.Agent {
			w = a.await(c, grant, task)
		}
		if still == nil {
			still = map[schemas.Grant]*waiter{}
		}
		still[grant] = w
	}
	for _, grant := range slices.SortedFunc(maps.Keys(c.waits), compareGrants) {
		if w := c.waits[grant]; still[grant] != w {
			w.gone = true
			if task := taskOf(c, grant); task == nil || task.Request != w.request {
				a.unclaim(w)
			}
		}
	}
	c.waits = still
	for len(c.grants) > 0 && !c.awaits(c.grants[0]) {
		a.EndGrant(c) // so that others have its room at once
	}
}

func compareGrants(a, b schemas.Grant) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Task, b.Task))
}

// taskOf returns the task of the run under way that a grant is for, or nil.
func taskOf(c *Session, grant schemas.Grant) *plan.Task {
	if c.State.Active == nil || c.State.Active.Number != grant.Run {
		return nil
	}
	return c.State.Active.Task(grant.Task)
}

func (a *Controller) await(c *Session, grant schemas.Grant, task *plan.Task) *waiter {
	a.arrivals++
	w := &waiter{
		c: c, grant: grant, agent: task.Agent, priority: task.Priority(), order: a.arrivals, attempt: task.Attempt + 1,
		request: schemas.RequestID(a.Shard, schemas.RunID(c.State.Session, grant.Run), grant.Task, task.Attempt+1),
		first:   grant.Task == plan.DeliveryTask && task.Attempt == 0,
	}
	if len(task.Resources()) > 0 {
		w.resources = resourcesOf(task)
	}
	a.enlist(w)
	return w
}

// enlist has a waiter wait for room.
func (a *Controller) enlist(w *waiter) {
	w.gone, w.reserved = false, false
	heap.Push(&a.pool(w.agent).waiters, w)
	a.roomy = append(a.roomy, w.agent)
}

// freed changes a pool and notes that somebody who waits for it may go on.
func (a *Controller) freed(agent string, change func(*pool)) {
	p := a.pool(agent)
	change(p)
	if len(p.waiters) > 0 {
		a.roomy = append(a.roomy, agent)
	}
}

// Release takes back what a decision had reserved.
func (a *Controller) Release(c *Session) {
	for _, agent := range c.reserved {
		a.freed(agent, func(p *pool) { p.reserved-- })
	}
	c.reserved = nil
}

// Usable reports whether the first grant of a session is still what it was when it was
// given, and still its waiter's: the session may have been busy since.
func (a *Controller) Usable(c *Session) bool {
	w := c.grants[0]
	if !c.awaits(w) {
		return false
	}
	switch a.passageOf(w) {
	case plan.PassageClosed:
		return true // to be refused
	case plan.PassageFree:
		return w.reserved && a.holdsFor(w) && !a.outranked(w)
	case plan.PassageClaimed:
	}
	return false
}

// EndGrant ends the first grant of a session: it was used, or there is nothing to use it for, or it is
// not usable any more and its task waits anew.
func (a *Controller) EndGrant(c *Session) {
	w := c.grants[0]
	c.grants = c.grants[1:]
	if w.reserved {
		a.freed(w.agent, func(p *pool) { p.reserved-- })
	}
	if c.awaits(w) {
		a.enlist(w)
	}
}

// readmit has those wait again who were to be refused and have not been yet, once
// their agent is not barred any more: others would be before them until their turn.
func (a *Controller) readmit(agent string) {
	for c := range a.Sessions.InOrder() {
		c.grants = slices.DeleteFunc(c.grants, func(w *waiter) bool {
			spared := w.agent == agent && !w.reserved && c.awaits(w)
			if spared {
				a.enlist(w)
			}
			return spared
		})
	}
}

// repliesBy reports whether an agent delivers the answer to a run that is under way
// or waits for its turn.
func (c *Session) repliesBy(agent string) bool {
	if c.State.Active != nil && c.State.Active.Message.ReplyAgent() == agent {
		return true
	}
	for queued := range c.State.Queue.All() {
		if queued.Message.ReplyAgent() == agent {
			return true
		}
	}
	return false
}
