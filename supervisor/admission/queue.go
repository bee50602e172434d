package admission

import (
	"podium/schemas"
	"podium/schemas/fault"
)

// A waitingTask is a ready task that waits for a grant.
type waitingTask struct {
	session   *Demand
	grant     schemas.Grant
	agent     string
	attempt   int      // that it would be
	request   string   // that it would be, as schemas.AttemptKey has it: any owner of the shard makes it
	resources []string // that it needs for itself, in lexical order, each once
	priority  int
	turn      uint64 // of its requester, as pool.turnOf gives it
	order     uint64
	first     bool // a delivery that has not been tried, which no breaker refuses
	gone      bool // it does not wait any more
	reserved  bool // room is kept for it

	profile     string            // of its run
	claim       *schemas.DayClaim // what it needs of the budget of the day; nil is nothing
	held        bool              // it is on record that it waits for that
	looks       bool              // it is held, and looks whether it still is
	asked       string            // the day for which something may be reserved; empty is none
	reservedFor string            // the day for which that is
	short       *schemas.Shortage // why it is to be held, when it is granted for that
}

// before reports whether a waiting task goes before another: it is more urgent, else its requester's turn comes
// earlier, else it came first.
func (d *waitingTask) before(other *waitingTask) bool {
	if d.priority != other.priority && !fault.Is("whoever came first goes first") {
		return d.priority < other.priority
	}
	if d.turn != other.turn {
		return d.turn < other.turn != fault.Is("whoever waits longest goes last")
	}
	return d.order < other.order
}

// Waiting counts the tasks that wait for each agent to have room; nil is none.
func (c *Controller) Waiting() (waiting map[string]int) {
	for agent, p := range c.pools {
		for _, d := range p.waiting {
			if d.gone {
				continue
			}
			if waiting == nil {
				waiting = map[string]int{}
			}
			waiting[agent]++
		}
	}
	return waiting
}

// A waitingQueue is a heap of those that wait for one agent: the most urgent is the first.
type waitingQueue []*waitingTask

func (d waitingQueue) Len() int           { return len(d) }
func (d waitingQueue) Less(i, j int) bool { return d[i].before(d[j]) }
func (d waitingQueue) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

func (d *waitingQueue) Push(x any) {
	if added, ok := x.(*waitingTask); ok {
		*d = append(*d, added)
	}
}

func (d *waitingQueue) Pop() any {
	old := *d
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return last
}

// anyBefore reports whether a waiting task that goes before another is one of those sought. It
// begins at i, and leaves out every branch of the heap whose first does not go before it.
func (d waitingQueue) anyBefore(other *waitingTask, i int, is func(*waitingTask) bool) bool {
	return i < len(d) && d[i].before(other) &&
		(is(d[i]) || d.anyBefore(other, 2*i+1, is) || d.anyBefore(other, 2*i+2, is))
}
