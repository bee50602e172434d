package supervisor

import (
	"cmp"
	"container/heap"
	"context"
	"maps"
	"slices"
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
	agent    watchedAgent
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
	c         *conversation
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

// credit counts what a conversation has under way and lists what of it waits,
// once its state is the ledger's.
func (o *Owner) credit(c *conversation) {
	o.release(c)
	o.follow(c)
	for _, agent := range c.asked {
		o.freed(agent, func(p *pool) { p.out-- })
	}
	c.asked = c.asked[:0]
	if c.state.Active != nil {
		o.watchAgents()
	}
	for task := range c.state.UnderWay {
		c.asked = append(c.asked, task.Agent)
		o.pool(task.Agent).out++
	}
	var still map[schemas.Grant]*waiter
	for grant, task := range c.state.Waiting {
		w := c.waits[grant]
		if w == nil || w.agent != task.Agent {
			w = o.await(c, grant, task)
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
				o.unclaim(w)
			}
		}
	}
	c.waits = still
}

func compareGrants(a, b schemas.Grant) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Task, b.Task))
}

// taskOf returns the task of the run under way that a grant is for, or nil.
func taskOf(c *conversation, grant schemas.Grant) *plan.Task {
	if c.state.Active == nil || c.state.Active.Number != grant.Run {
		return nil
	}
	return c.state.Active.Task(grant.Task)
}

func (o *Owner) await(c *conversation, grant schemas.Grant, task *plan.Task) *waiter {
	o.arrivals++
	w := &waiter{
		c: c, grant: grant, agent: task.Agent, priority: task.Priority(), order: o.arrivals, attempt: task.Attempt + 1,
		request: schemas.RequestID(o.Shard, schemas.RunID(c.id, grant.Run), grant.Task, task.Attempt+1),
		first:   grant.Task == plan.DeliveryTask && task.Attempt == 0,
	}
	if len(task.Resources()) > 0 {
		w.resources = resourcesOf(task)
	}
	o.enlist(w)
	return w
}

// enlist has a waiter wait for room.
func (o *Owner) enlist(w *waiter) {
	w.gone, w.reserved = false, false
	heap.Push(&o.pool(w.agent).waiters, w)
	o.roomy = append(o.roomy, w.agent)
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
	c.reserved = nil
}

// grant lets those who wait go on, as far as their agents have room and are not
// barred and their resources are free.
func (o *Owner) grant(ctx context.Context) bool {
	granted := false
	for len(o.roomy) > 0 {
		agent := o.roomy[0]
		o.roomy = o.roomy[1:]
		p := o.pool(agent)
		for w := p.next(); w != nil && o.lets(p, w); w = p.next() {
			granted = true
		}
	}
	o.roomy = nil
	o.consultAll(ctx)
	return o.contend(ctx) || granted
}

// lets has the most urgent waiter go on, and reports whether the one behind it may
// be looked at. One whose breaker is open goes on as well: to be refused. If the
// agent delivers the answer, too, that needs room: no breaker refuses an answer.
func (o *Owner) lets(p *pool, w *waiter) bool {
	passage := o.passageOf(w)
	refused := passage == plan.PassageClosed
	switch {
	case refused && !w.c.repliesBy(w.agent):
		heap.Pop(&p.waiters)
		o.hand(w)
		return true
	case !o.room(p):
		return false
	case passage == plan.PassageClaimed:
		o.claim(w)
		return false
	}
	heap.Pop(&p.waiters)
	if refused || o.equipped(w) {
		p.reserved++
		w.reserved = true
		o.hand(w)
	}
	return true
}

// passageOf returns what the breaker of its agent says to a waiter.
func (o *Owner) passageOf(w *waiter) plan.Passage {
	passage := o.passage(w.agent, w.request)
	if w.first && passage == plan.PassageClosed {
		return plan.PassageFree // an answer is worth the try
	}
	return passage
}

// repliesBy reports whether an agent delivers the answer to a run that is under way
// or waits for its turn.
func (c *conversation) repliesBy(agent string) bool {
	if c.state.Active != nil && c.state.Active.Message.ReplyAgent() == agent {
		return true
	}
	for queued := range c.state.Queue.All() {
		if queued.Message.ReplyAgent() == agent {
			return true
		}
	}
	return false
}

// hand gives a waiter its grant.
func (o *Owner) hand(w *waiter) {
	w.gone = true
	w.c.grants = append(w.c.grants, w)
	o.push(w.c)
}

// usable reports whether a grant is still what it was when it was given, and still
// its waiter's: its conversation may have been busy since.
func (o *Owner) usable(w *waiter) bool {
	if !w.c.awaits(w) {
		return false
	}
	switch o.passageOf(w) {
	case plan.PassageClosed:
		return true // to be refused
	case plan.PassageFree:
		return w.reserved && o.holdsFor(w) && !o.outranked(w)
	case plan.PassageClaimed:
	}
	return false
}

// outranked reports whether somebody who goes before a waiter lacks nothing but room.
// Who has resources keeps its room: others wait for them.
func (o *Owner) outranked(w *waiter) bool {
	p := o.pool(w.agent)
	return p.limit > 0 && len(w.resources) == 0 && p.waiters.anyBefore(w, 0, func(first *waiter) bool {
		return !first.gone && o.holdsFor(first) && o.passageOf(first) == plan.PassageFree
	})
}

// granted ends a grant: it was used, or there is nothing to use it for, or it is
// not usable any more and its task waits anew.
func (o *Owner) granted(c *conversation) {
	w := c.grants[0]
	c.grants = c.grants[1:]
	if w.reserved {
		o.freed(w.agent, func(p *pool) { p.reserved-- })
	}
	if c.awaits(w) {
		o.enlist(w)
	}
}

// readmit has those wait again who were to be refused and have not been yet, once
// their agent is not barred any more: others would be before them until their turn.
func (o *Owner) readmit(agent string) {
	for _, c := range o.sessions {
		c.grants = slices.DeleteFunc(c.grants, func(w *waiter) bool {
			spared := w.agent == agent && !w.reserved && c.awaits(w)
			if spared {
				o.enlist(w)
			}
			return spared
		})
	}
}

// admissions is what a conversation's decision knows of the agents.
type admissions struct {
	owner   *Owner
	c       *conversation
	now     time.Time
	granted *waiter  // whose grant is decided, until it is admitted
	barred  []string // agents that were unavailable before
}

func (o *Owner) admissions(c *conversation, read *session.Input) plan.Bus {
	a := &admissions{owner: o, c: c, now: read.Now}
	if read.Grant != nil {
		a.granted = c.grants[0]
	}
	return a
}

// Admit implements plan.Bus. Nobody finds room while somebody waits for it: what has
// become free since the grants of this Tick were given is for those who wait. Room
// comes before the breaker, because what it refuses may go all the same (see
// plan.Turn.Grant).
func (a *admissions) Admit(agent string) plan.Admission {
	if slices.Contains(a.barred, agent) {
		return plan.Unavailable
	}
	w := a.granted
	if w != nil && w.agent == agent {
		a.granted = nil
		return a.bar(agent, a.owner.passage(agent, w.request))
	}
	p := a.owner.pool(agent)
	if !a.owner.room(p) || p.limit > 0 && p.next() != nil {
		return plan.Full
	}
	admission := a.bar(agent, a.owner.passage(agent, ""))
	if admission != plan.Full {
		p.reserved++
		a.c.reserved = append(a.c.reserved, agent)
	}
	return admission
}

func (a *admissions) bar(agent string, passage plan.Passage) plan.Admission {
	switch passage {
	case plan.PassageClosed:
		a.barred = append(a.barred, agent)
		return plan.Unavailable
	case plan.PassageClaimed:
		return plan.Full // it waits until the ledger has said who may be the probe
	case plan.PassageFree:
	}
	return plan.Admitted
}

// Reuse implements plan.Bus.
func (a *admissions) Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool) {
	return a.owner.answers.find(agent, input, a.now.Add(-age))
}

// Brings implements plan.Bus.
func (a *admissions) Brings() bool { return a.owner.Core.Server() != "" }

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
