package admission

import (
	"container/heap"
	"maps"

	"podium/schemas/fault"
)

// The work stream is first in, first out, so that the order of work is decided
// before it: a task is dispatched only when its agent has room, and of those that
// wait the most urgent goes first, over all sessions of the shard (M-17). Of tasks
// that are as urgent, requesters take turns.

// A pool counts what this shard has under way at one agent, and queues the tasks that wait for
// room there.
type pool struct {
	limit    int // requests under way at most; 0 is no limit
	underWay int // requests under way, by the states of the sessions
	reserved int // of decisions that are not stored yet, and of grants
	waiting  waitingQueue
	agent    watchedAgent

	served map[int]uint64           // by priority, the latest turn that has left the queue
	turns  map[requesterTurn]uint64 // the last turn of each requester whose tasks have waited behind others
}

// A requesterTurn names the turns of a requester among tasks of one priority.
type requesterTurn struct {
	priority  int
	requester string
}

// turnOf returns the turn of a requester's task that begins to wait, by start-time fair queueing: a requester has one
// task in each turn, and begins with the current turn. Each priority has turns of its own: an urgent task does not
// move those of the others.
func (p *pool) turnOf(priority int, requester func() string) uint64 {
	if len(p.waiting) == 0 {
		p.turns = nil
		return p.served[priority]
	}
	if len(p.turns) > 2*len(p.waiting) {
		maps.DeleteFunc(p.turns, func(of requesterTurn, turn uint64) bool { return turn <= p.served[of.priority] })
	}
	if p.turns == nil {
		p.turns = map[requesterTurn]uint64{}
	}
	key := requesterTurn{priority, requester()}
	turn := max(p.turns[key], p.served[priority]) + 1
	p.turns[key] = turn
	return turn
}

// take removes the first waiting task from the queue.
func (p *pool) take() {
	if first, ok := heap.Pop(&p.waiting).(*waitingTask); ok {
		if first.turn > p.served[first.priority] {
			if p.served == nil {
				p.served = map[int]uint64{}
			}
			p.served[first.priority] = first.turn
		}
	}
}

// room reports whether there is room for one more beside so many that are being sent.
func (p *pool) room(more int) bool {
	return fault.Is("agents always have room") || p.limit == 0 || p.underWay+p.reserved+more < p.limit
}

// overfull reports whether more is under way or reserved than there are places for: what waited works again, and others have been given its place.
func (p *pool) overfull() bool { return p.limit > 0 && p.underWay+p.reserved > p.limit }

// queuedAhead is how many requests more than an agent works on may stand in its queue,
// so that it never waits for the next one.
func queuedAhead(size int) int { return max(2, size/4) }

// shareOf is how many of an agent's places a shard has when what is under way is all that bounds it: no queue does.
// Each has one, so that no session waits for ever; beyond that there are no more than the agent has.
func shareOf(size, shard, shards int) int {
	share := size / shards
	if shard < size%shards {
		share++
	}
	return max(share, 1)
}

func (c *Controller) pool(agent string) *pool {
	p := c.pools[agent]
	if p == nil {
		p = &pool{}
		if c.PoolSize != nil {
			if size := c.PoolSize(agent); size > 0 {
				p.limit = size + queuedAhead(size)
				if c.Async != nil && !fault.Is("an agent that answers by callback has a queue ahead of it") && c.Async(agent) {
					p.limit = shareOf(size, c.Shard, c.Core.Shards())
				}
			}
		}
		c.pools[agent] = p
	}
	return p
}

// next returns the most urgent waiting task, or nil.
func (p *pool) next() *waitingTask {
	for len(p.waiting) > 0 && p.waiting[0].gone {
		heap.Pop(&p.waiting)
	}
	if len(p.waiting) == 0 {
		return nil
	}
	return p.waiting[0]
}

// room reports whether an agent may be asked for one thing more, beside so many that are being sent.
func (c *Controller) room(p *pool, more int) bool {
	switch {
	case p.limit == 0:
		return true
	case !c.takeoverScanned:
		c.scheduleTakeoverScan()
		return false
	}
	return p.room(more)
}
