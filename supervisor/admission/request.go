package admission

import "podium/schemas"

// A waiter is a ready task that waits for a grant.
type waiter struct {
	c         *Session
	grant     schemas.Grant
	agent     string
	attempt   int      // that it would be
	request   string   // message_id of the request that it would be
	resources []string // that it needs for itself, in lexical order, each once
	priority  int
	order     uint64
	first     bool // a delivery that has not been tried, which no breaker refuses
	gone      bool // it does not wait any more
	reserved  bool // room is kept for it
}

// before reports whether a waiter goes before another: it is more urgent, else it
// came first.
func (w *waiter) before(other *waiter) bool {
	if w.priority != other.priority {
		return w.priority < other.priority
	}
	return w.order < other.order
}

// waiters is a heap: who goes first is first.
type waiters []*waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].before(w[j]) }
func (w waiters) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

func (w *waiters) Push(x any) {
	if added, ok := x.(*waiter); ok {
		*w = append(*w, added)
	}
}

func (w *waiters) Pop() any {
	old := *w
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	return last
}

// anyBefore reports whether one of those at i in the heap and behind it, which goes
// before another, is such a one. It looks at few more than those that go before.
func (w waiters) anyBefore(other *waiter, i int, is func(*waiter) bool) bool {
	return i < len(w) && w[i].before(other) &&
		(is(w[i]) || w.anyBefore(other, 2*i+1, is) || w.anyBefore(other, 2*i+2, is))
}
