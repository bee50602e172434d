package admission

import "container/heap"

// The work stream is first in, first out, so that the order of work is decided
// before it: a task is dispatched only when its agent has room, and of those that
// wait the most urgent goes first, over all sessions of the shard (M-17).

// A pool is what an agent works on, as far as this shard has asked for it.
type pool struct {
	limit    int // requests under way at most; 0 is no limit
	out      int // requests under way, by the states of the sessions
	reserved int // of decisions that are not stored yet, and of grants
	waiters  waiters
	agent    watchedAgent
}

func (p *pool) room() bool { return p.limit == 0 || p.out+p.reserved < p.limit }

// slack is how many requests more than an agent works on may stand in its queue,
// so that it never waits for the next one.
func slack(size int) int { return max(2, size/4) }

func (a *Controller) pool(agent string) *pool {
	p := a.pools[agent]
	if p == nil {
		p = &pool{}
		if a.PoolSize != nil {
			if size := a.PoolSize(agent); size > 0 {
				p.limit = size + slack(size)
			}
		}
		a.pools[agent] = p
	}
	return p
}

// next returns the most urgent waiter, or nil.
func (p *pool) next() *waiter {
	for len(p.waiters) > 0 && p.waiters[0].gone {
		heap.Pop(&p.waiters)
	}
	if len(p.waiters) == 0 {
		return nil
	}
	return p.waiters[0]
}
