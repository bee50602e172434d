package supervisor

import (
	"container/heap"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// The work stream is first in, first out, so that the order of work is decided
// before it: a task is dispatched only when its agent has room, and of those that
// wait the most urgent goes first, over all sessions of the shard (M-17).

// A pool is what an agent works on, as far as this shard has asked for it.
type pool struct {
	limit    int // requests under way at most; 0 is no limit
	out      int // requests under way, by the states of the sessions
	reserved int // of decisions that are not stored yet, and of grants
	waiters  waiters
}

func (p *pool) room() bool { return p.limit == 0 || p.out+p.reserved < p.limit }

// slack is how many requests more than an agent works on may stand in its queue,
// so that it never waits for the next one.
func slack(size int) int { return max(2, size/4) }

func (o *Owner) pool(agent string) *pool {
	p := o.pools[agent]
	if p == nil {
		p = &pool{}
		if o.PoolSize != nil {
			if size := o.PoolSize(agent); size > 0 {
				p.limit = size + slack(size)
			}
		}
		o.pools[agent] = p
	}
	return p
}

// A waiter is a ready task that waits for a grant.
type waiter struct {
	c        *conversation
	grant    schemas.Grant
	agent    string
	priority int
	order    uint64
	gone     bool // it does not wait any more
}

// waiters is a heap: the most urgent first, else in the order of arrival.
type waiters []*waiter

func (w waiters) Len() int { return len(w) }
func (w waiters) Less(i, j int) bool {
	if w[i].priority != w[j].priority {
		return w[i].priority < w[j].priority
	}
	return w[i].order < w[j].order
}
func (w waiters) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

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

// next returns the most urgent waiter, or nil.
func (p *pool) next() *waiter {
	for len(p.waiters) > 0 {
		if next, _ := heap.Pop(&p.waiters).(*waiter); !next.gone {
			return next
		}
	}
	return nil
}

// credit counts what a conversation has under way and lists what of it waits,
// once its state is the ledger's.
func (o *Owner) credit(c *conversation) {
	o.release(c)
	for _, agent := range c.asked {
		o.freed(agent, func(p *pool) { p.out-- })
	}
	c.asked = c.asked[:0]
	for task := range c.state.UnderWay {
		c.asked = append(c.asked, task.Agent)
		o.pool(task.Agent).out++
	}
	if len(c.waits) == 0 && c.state.Active == nil {
		return
	}
	still := map[schemas.Grant]*waiter{}
	for grant, task := range c.state.Waiting {
		w := c.waits[grant]
		if w == nil || w.agent != task.Agent {
			w = o.await(c, grant, task)
		}
		still[grant] = w
	}
	for grant, w := range c.waits {
		if still[grant] != w {
			w.gone = true
		}
	}
	c.waits = still
}

func (o *Owner) await(c *conversation, grant schemas.Grant, task *plan.Task) *waiter {
	o.arrivals++
	w := &waiter{c: c, grant: grant, agent: task.Agent, priority: task.Priority(), order: o.arrivals}
	heap.Push(&o.pool(task.Agent).waiters, w)
	o.roomy = append(o.roomy, task.Agent)
	return w
}

// freed changes a pool and notes that somebody who waits for it may go on.
func (o *Owner) freed(agent string, change func(*pool)) {
	p := o.pool(agent)
	change(p)
	if len(p.waiters) > 0 {
		o.roomy = append(o.roomy, agent)
	}
}

// release takes back what a decision had reserved.
func (o *Owner) release(c *conversation) {
	for _, agent := range c.reserved {
		o.freed(agent, func(p *pool) { p.reserved-- })
	}
	c.reserved = c.reserved[:0]
}

// grant lets those who wait go on, as far as their agents have room.
func (o *Owner) grant() bool {
	granted := false
	for len(o.roomy) > 0 {
		agent := o.roomy[0]
		o.roomy = o.roomy[1:]
		for p := o.pool(agent); p.room(); {
			w := p.next()
			if w == nil {
				break
			}
			p.reserved++
			w.gone = true
			w.c.grants = append(w.c.grants, w)
			o.push(w.c)
			granted = true
		}
	}
	o.roomy = nil
	return granted
}

// granted ends a grant: it was used, or there is nothing to use it for.
func (o *Owner) granted(c *conversation) {
	w := c.grants[0]
	c.grants = c.grants[1:]
	o.freed(w.agent, func(p *pool) { p.reserved-- })
}

// admissions is what a conversation's decision knows of the agents.
type admissions struct {
	owner *Owner
	c     *conversation
	now   time.Time
}

func (o *Owner) admissions(c *conversation, now time.Time) plan.Bus {
	return &admissions{owner: o, c: c, now: now}
}

// Admit implements plan.Bus. Those that waited before have had their grants by
// now, so that whoever finds room takes it from nobody.
func (a *admissions) Admit(agent string) plan.Admission {
	p := a.owner.pool(agent)
	if !p.room() {
		return plan.Full
	}
	p.reserved++
	a.c.reserved = append(a.c.reserved, agent)
	return plan.Admitted
}

// Reuse implements plan.Bus.
func (a *admissions) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	return a.owner.answers.find(agent, input, a.now.Add(-age))
}

// answers remembers what agents have answered to which input (M-29). It forgets
// with its owner, and the oldest first.
type answers struct {
	known map[answerKey]knownAnswer
	order []answerKey
}

type answerKey struct{ agent, input string }

type knownAnswer struct {
	schemas.Reuse
	at time.Time
}

const rememberedAnswers = 4096

func (a *answers) learn(outcome *session.Outcome, now time.Time) {
	for _, reuse := range outcome.Learned {
		key := answerKey{reuse.Agent, reuse.Input}
		if a.known == nil {
			a.known = map[answerKey]knownAnswer{}
		}
		if _, known := a.known[key]; !known {
			a.order = append(a.order, key)
		}
		a.known[key] = knownAnswer{reuse, now}
		if len(a.order) > rememberedAnswers {
			delete(a.known, a.order[0])
			a.order = a.order[1:]
		}
	}
}

func (a *answers) find(agent, input string, since time.Time) (schemas.Reuse, bool) {
	known, ok := a.known[answerKey{agent, input}]
	return known.Reuse, ok && !known.at.Before(since)
}
