package admission

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// A Demand is what a live session demands of agents: its requests under way, its tasks that
// wait, and the grants that it has not used. Its owner keeps it, and gives it the State once.
type Demand struct {
	State *session.State // of the live session

	asked []string // the agents of its requests under way
	// inherited are those of its requests under way that a former owner has made, one behind
	// the other.
	inherited string
	reserved  []string                    // the agents that the decision at hand has been admitted to
	waiting   map[schemas.Grant]*dispatch // its ready tasks
	grants    []*dispatch                 // that may be dispatched
	claims    []*resourceClaim            // what its tasks have to do with shared resources
}

// Inherit notes which of its requests a former owner has made, once it was loaded.
func (s *Demand) Inherit() {
	s.inherited = ""
	if run := s.State.Active; run != nil {
		for task := range run.All {
			if task.State.UnderWay() {
				s.inherited += task.Request
			}
		}
	}
}

// awaits reports whether a grant still has something to be used for: its task may
// wait for another agent by now, whose grant it is not.
func (s *Demand) awaits(d *dispatch) bool { return s.waiting[d.grant] == d }

// Granted returns the first grant that a session has not used.
func (s *Demand) Granted() (grant schemas.Grant, some bool) {
	if len(s.grants) == 0 {
		return schemas.Grant{}, false
	}
	return s.grants[0].grant, true
}

// Track counts what a session has under way and lists what of it waits, once its state is
// the ledger's.
func (a *Controller) Track(s *Demand) {
	a.Release(s)
	a.trackClaims(s)
	for _, agent := range s.asked {
		a.freed(agent, func(p *pool) { p.underWay-- })
	}
	s.asked = s.asked[:0]
	if s.State.Active != nil {
		a.watchAgents()
	}
	for task := range s.State.UnderWay {
		s.asked = append(s.asked, task.Agent)
		a.pool(task.Agent).underWay++
	}
	var still map[schemas.Grant]*dispatch
	for grant, task := range s.State.Waiting {
		d := s.waiting[grant]
		if d == nil || d.agent != task.Agent {
			d = a.newDispatch(s, grant, task)
		}
		if still == nil {
			still = map[schemas.Grant]*dispatch{}
		}
		still[grant] = d
	}
	for _, grant := range slices.SortedFunc(maps.Keys(s.waiting), compareGrants) {
		if d := s.waiting[grant]; still[grant] != d {
			d.gone = true
			if task := taskOf(s, grant); task == nil || schemas.AttemptOf(task.Request) != d.request {
				a.releaseProbe(d)
			}
		}
	}
	s.waiting = still
	for len(s.grants) > 0 && !s.awaits(s.grants[0]) {
		a.EndGrant(s) // so that others have its room at once
	}
}

func compareGrants(a, b schemas.Grant) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Task, b.Task))
}

// taskOf returns the task of the run under way that a grant is for, or nil.
func taskOf(s *Demand, grant schemas.Grant) *workflow.Task {
	if s.State.Active == nil || s.State.Active.Number != grant.Run {
		return nil
	}
	return s.State.Active.Task(grant.Task)
}

func (a *Controller) newDispatch(s *Demand, grant schemas.Grant, task *workflow.Task) *dispatch {
	a.arrivals++
	d := &dispatch{
		session: s, grant: grant, agent: task.Agent, priority: task.Priority(), order: a.arrivals, attempt: task.Attempt + 1,
		request: schemas.RequestID(a.Shard, 0, schemas.RunID(s.State.Session, grant.Run), grant.Task, task.Attempt+1),
		first:   grant.Task == schemas.DeliveryTask && task.Attempt == 0,
	}
	if len(task.Resources()) > 0 {
		d.resources = resourcesOf(task)
	}
	a.enqueue(d)
	return d
}

// enqueue has a dispatch wait for room.
func (a *Controller) enqueue(d *dispatch) {
	d.gone, d.reserved = false, false
	heap.Push(&a.pool(d.agent).waiting, d)
	a.withCapacity = append(a.withCapacity, d.agent)
}

// freed changes a pool and notes that somebody who waits for it may go on.
func (a *Controller) freed(agent string, change func(*pool)) {
	p := a.pool(agent)
	change(p)
	if len(p.waiting) > 0 {
		a.withCapacity = append(a.withCapacity, agent)
	}
}

// Release takes back what a decision had reserved.
func (a *Controller) Release(s *Demand) {
	for _, agent := range s.reserved {
		a.freed(agent, func(p *pool) { p.reserved-- })
	}
	s.reserved = nil
}

// Usable reports whether the first grant of a session is still what it was when it was
// given, and still its dispatch's: the session may have been busy since.
func (a *Controller) Usable(s *Demand) bool {
	d := s.grants[0]
	if !s.awaits(d) {
		return false
	}
	switch a.passageOf(d) {
	case plan.PassageDeny:
		return true // to be refused
	case plan.PassageAllow:
		return d.reserved && a.holdsFor(d) && !a.preempted(d)
	case plan.PassageProbing:
	}
	return false
}

// EndGrant ends the first grant of a session: it was used, or there is nothing to use it for, or it is
// not usable any more and its task waits anew.
func (a *Controller) EndGrant(s *Demand) {
	d := s.grants[0]
	s.grants = s.grants[1:]
	if d.reserved {
		a.freed(d.agent, func(p *pool) { p.reserved-- })
	}
	if s.awaits(d) {
		a.enqueue(d)
	}
}

// requeue has those wait again who were to be refused and have not been yet, once
// their agent is not barred any more: others would be before them until their turn.
func (a *Controller) requeue(agent string) {
	for s := range a.Sessions.InOrder() {
		s.grants = slices.DeleteFunc(s.grants, func(d *dispatch) bool {
			spared := d.agent == agent && !d.reserved && s.awaits(d)
			if spared {
				a.enqueue(d)
			}
			return spared
		})
	}
}

// repliesBy reports whether an agent delivers the answer to a run that is under way
// or waits for its turn.
func (s *Demand) repliesBy(agent string) bool {
	if s.State.Active != nil && s.State.Active.Message.ReplyAgent() == agent {
		return true
	}
	for queued := range s.State.Queue.All() {
		if queued.Message.ReplyAgent() == agent {
			return true
		}
	}
	return false
}
