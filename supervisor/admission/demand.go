package admission

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/circuit"
	"podium/supervisor/session"
)

// A Demand is what a live session demands of agents: its requests under way, its tasks that
// wait, and the grants that it has not used. Track queues the tasks that have become ready. Its
// owner keeps it, and gives it the State once.
type Demand struct {
	State *session.State // of the live session

	underWay []string // the agents of its requests under way
	// inherited are those of its requests under way that a former owner has made, one behind
	// the other.
	inherited string
	reserved  []string                       // the agents that the decision at hand has been admitted to
	waiting   map[schemas.Grant]*waitingTask // its ready tasks
	grants    []*waitingTask                 // that may be dispatched
	claims    []*resourceClaim               // what its tasks have to do with shared resources
	day       *leftOfDay                     // nil is nothing: most sessions have none, and are smaller for it
}

// A leftOfDay is what may be reserved in the budget of a day for who does not need it: who waits no more since the state was read, and requests.
type leftOfDay struct {
	restored bool // the state was read from the ledger, and is none that its owner has decided
	lost     []*waitingTask
	unneeded []unneeded
}

func (dm *Demand) restored() bool { return dm.day != nil && dm.day.restored }

// lose notes who waits no more.
func (dm *Demand) lose(d *waitingTask) {
	left := dm.dayLeft()
	left.lost = append(left.lost, d)
}

// doWithout notes a request.
func (dm *Demand) doWithout(request unneeded) {
	left := dm.dayLeft()
	left.unneeded = append(left.unneeded, request)
}

func (dm *Demand) dayLeft() *leftOfDay {
	if dm.day == nil {
		dm.day = &leftOfDay{}
	}
	return dm.day
}

// MarkInherited notes which of its requests a former owner has made, once it was loaded.
func (dm *Demand) MarkInherited() {
	dm.inherited, dm.dayLeft().restored = "", true
	for task := range dm.State.UnderWay {
		dm.inherited += task.Request
	}
}

// MarkDecided notes that what was read from the ledger is what its owner has decided.
func (dm *Demand) MarkDecided() {
	if dm.restored() {
		dm.day.restored = false
	}
}

// awaits reports whether a grant still has something to be used for: its task may
// wait for another agent by now, whose grant it is not.
func (dm *Demand) awaits(d *waitingTask) bool {
	return dm.waiting[d.grant] == d || dm.waiting[d.grant] != nil && fault.Is("a grant is for whomever the task waits for")
}

// Granted returns the first grant that a session has not used.
func (dm *Demand) Granted() (grant schemas.Grant, some bool) {
	if len(dm.grants) == 0 {
		return schemas.Grant{}, false
	}
	return dm.grants[0].grant, true
}

// Track counts what a session has under way and lists what of it waits, once its state is
// the ledger's.
func (c *Controller) Track(demand *Demand) {
	c.Release(demand)
	c.trackClaims(demand)
	for _, agent := range demand.underWay {
		c.freed(agent, func(p *pool) { p.underWay-- })
	}
	demand.underWay = demand.underWay[:0]
	if demand.State.Active != nil {
		c.watchAgents()
	}
	for task := range demand.State.UnderWay {
		if task.WaitingUntil() != nil && !fault.Is("a parked approval keeps its place") {
			continue // its agent holds nothing for it meanwhile
		}
		demand.underWay = append(demand.underWay, task.Agent)
		c.pool(task.Agent).underWay++
	}
	var still map[schemas.Grant]*waitingTask
	for grant, task := range demand.State.AwaitingGrant {
		d := demand.waiting[grant]
		if d == nil || !d.isFor(task) || d.held {
			d = c.newWaitingTask(demand, grant, task)
			c.enqueue(d)
		}
		if d.claim = task.Day; still == nil {
			still = map[schemas.Grant]*waitingTask{}
		}
		still[grant] = d
	}
	for grant, task := range demand.State.AwaitingDay {
		d := demand.waiting[grant]
		if d == nil || !d.isFor(task) || !d.held {
			d = c.newWaitingTask(demand, grant, task)
			d.held = true
			c.holdForDay(d)
		}
		if d.claim = task.Day; still == nil {
			still = map[schemas.Grant]*waitingTask{}
		}
		still[grant] = d
	}
	before := demand.waiting
	demand.waiting = still
	for _, grant := range slices.SortedFunc(maps.Keys(before), compareGrants) {
		if d := before[grant]; still[grant] != d {
			d.gone = true
			task := taskOf(demand, grant)
			if task == nil || schemas.AttemptKey(task.Request) != d.request {
				c.releaseProbe(d)
			}
			switch {
			case d.asked == "":
			case demand.restored():
				demand.lose(d)
			case task == nil || task.Attempt < d.attempt:
				c.leaveDay(d)
			}
		}
	}
	for len(demand.grants) > 0 && !demand.awaits(demand.grants[0]) {
		c.EndGrant(demand) // so that others have its room at once
	}
	c.leaveUnneeded(demand)
}

// isFor reports whether it is what a task waits for now. Another owner may have asked meanwhile, and a further attempt has a room, a probe and a reservation of its own.
func (d *waitingTask) isFor(task *workflow.Task) bool {
	return d.agent == task.Agent && (d.attempt == task.Attempt+1 || fault.Is("a further attempt goes by the reservation of the one before"))
}

func compareGrants(a, b schemas.Grant) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Task, b.Task))
}

// taskOf returns the task of the run under way that a grant is for, or nil.
func taskOf(demand *Demand, grant schemas.Grant) *workflow.Task {
	if demand.State.Active == nil || demand.State.Active.Number != grant.Run {
		return nil
	}
	return demand.State.Active.Task(grant.Task)
}

func (c *Controller) newWaitingTask(demand *Demand, grant schemas.Grant, task *workflow.Task) *waitingTask {
	c.arrivals++
	d := &waitingTask{
		session: demand, grant: grant, agent: task.Agent, priority: task.Priority(), order: c.arrivals, attempt: task.Attempt + 1,
		request: schemas.RequestID(c.Shard, 0, schemas.RunID(demand.State.Session, grant.Run), grant.Task, task.Attempt+1),
		first:   task.NotifiesPeople() && task.Attempt == 0, profile: demand.State.Profile,
		turn: c.pool(task.Agent).turnOf(task.Priority(), demand.State.Active.Message.RequesterKey),
	}
	if len(task.Resources()) > 0 {
		d.resources = resourcesOf(task)
	}
	return d
}

// enqueue has a waiting task wait for room.
func (c *Controller) enqueue(d *waitingTask) {
	d.gone, d.reserved, d.short = false, false, nil
	heap.Push(&c.pool(d.agent).waiting, d)
	c.withCapacity = append(c.withCapacity, d.agent)
}

// freed changes a pool and notes that somebody who waits for it may go on.
func (c *Controller) freed(agent string, change func(*pool)) {
	p := c.pool(agent)
	change(p)
	if len(p.waiting) > 0 {
		c.withCapacity = append(c.withCapacity, agent)
	}
}

// Release takes back what a decision had reserved.
func (c *Controller) Release(demand *Demand) {
	for _, agent := range fault.Either("room is never given back", nil, demand.reserved) {
		c.freed(agent, func(p *pool) { p.reserved-- })
	}
	demand.reserved = nil
}

// GrantUsable reports whether the first grant of a session is still what it was when it was
// given, and still the task's: the session may have been busy since.
func (c *Controller) GrantUsable(demand *Demand) bool {
	d := demand.grants[0]
	if !demand.awaits(d) {
		return false
	}
	if d.short != nil {
		return d.short.Day == schemas.Day(c.now) // to be held
	}
	switch c.breakerVerdictOf(d) {
	case circuit.Deny:
		return true // to be refused
	case circuit.Allow:
		return d.reserved && !c.pool(d.agent).overfull() && c.holdsFor(d) && (!c.preempted(d) || fault.Is("a grant is used whoever has come since")) && c.fitsDay(d)
	case circuit.Probing:
	}
	return false
}

// EndGrant ends the first grant of a session: it was used, or there is nothing to use it for, or it is
// not usable any more and its task waits anew.
func (c *Controller) EndGrant(demand *Demand) {
	d := demand.grants[0]
	demand.grants = demand.grants[1:]
	if d.reserved {
		c.freed(d.agent, func(p *pool) { p.reserved-- })
	}
	if demand.awaits(d) {
		if !c.pool(d.agent).room(0) {
			c.leaveClaim(d)
		}
		c.enqueue(d)
	}
}

// requeue has those wait again who were to be refused and have not been yet, once
// their agent is not barred any more: others would be before them until their turn.
func (c *Controller) requeue(agent string) {
	for demand := range c.Sessions.InOrder() {
		demand.grants = slices.DeleteFunc(demand.grants, func(d *waitingTask) bool {
			spared := d.agent == agent && !d.reserved && demand.awaits(d)
			if spared {
				c.enqueue(d)
			}
			return spared
		})
	}
}

// repliesBy reports whether an agent delivers the answer to a run that is under way
// or waits for its turn.
func (dm *Demand) repliesBy(agent string) bool {
	if dm.State.Active != nil && dm.State.Active.Message.ReplyAgent() == agent {
		return true
	}
	for queued := range dm.State.Queue.All() {
		if queued.Message.ReplyAgent() == agent {
			return true
		}
	}
	return false
}
