package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	busagent "podium/bus/agent"
	"podium/schemas"
	"podium/schemas/fault"
)

// A permitQuestion is an agent's question for a permit. It is asked again with the
// same id until somebody answers, as bus.Permit does.
type permitQuestion struct {
	q      *pendingRequest
	id     string
	call   string // what it would do; empty when it does not say
	calmly int    // how often it was asked when nothing went wrong any more
	asleep bool   // its process gives no sign of life meanwhile
	over   bool
}

// An act is an effect in the world outside.
type act struct {
	agent, request, effect string
	permit                 string // the permit that it was done by
	call                   string // what was done, where agents say that
	shard                  int
	after                  uint64 // the newest message of the shard then
	at                     time.Time
}

const (
	askEvery = time.Second // as package bus has it
	// In a calm world one question is enough, but for those who are slow to hear, and once what was not acknowledged before is given up.
	askEnough  = int(patienceOfClients/askEvery) + 10
	askForgets = 10 // one process of so many dies while it waits
)

// seek asks for a permit, and acts once that is given. An agent without side
// effects just works, and so does one that is asked a question, but for the odd one.
func (pr *pendingRequest) seek() {
	a, w := pr.agent, pr.agent.world
	switch {
	case pr.lacks(3):
		return
	case !a.external || !w.calm && w.once(16): // without an act, sometimes
		pr.behave()
		return
	case !pr.task.Context.Kind.IsWork() && (w.calm || !w.once(3)):
		pr.behave()
		return
	case pr.brought():
		pr.allowed(pr.event.Permit)
		return
	}
	asks := &permitQuestion{q: pr, id: schemas.PlanID(w.id("permit")), asleep: !w.calm && w.once(6), call: w.taint.does(pr)}
	a.questions[asks.id] = asks
	if !w.calm && w.once(40) {
		pr.intrude()
	}
	asks.ask()
	if !w.calm && w.once(askForgets) {
		asks.close() // it dies; the bus hands the request out again
		a.later(a.wait, func() {})
	}
}

// intrude asks for what no agent is to ask for.
func (pr *pendingRequest) intrude() {
	w := pr.agent.world
	id, name, event := schemas.PlanID(w.id("permit")), pr.agent.name, pr.event
	switch w.rand.IntN(3) {
	case 0:
		name = stranger(name)
		event.ReplyTo = bus.ResponseSubject(name, pr.shard())
	case 1:
		id = schemas.PermitID(event.ID)
	case 2:
		event.ID = schemas.RequestID(pr.shard(), 1, "nobody", "t1", 1)
	}
	message, _, err := busagent.PermitRequest(name, &event, id, "", w.now)
	w.must(err)
	w.ledger.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) { w.must(err) })
}

// ask asks once, and again later.
func (pq *permitQuestion) ask() {
	pr, a, w := pq.q, pq.q.agent, pq.q.agent.world
	switch {
	case pq.over:
		return
	case !pr.event.Expires.IsZero() && w.now.After(pr.event.Expires):
		pq.close() // nobody waits for the effect any more
		pr.ack()
		return
	case w.calm:
		if pq.calmly++; pq.calmly > askEnough {
			w.violate(QuestionsAnswered, "agent %s hears nothing of permit %s for request %s", a.name, pq.id, pr.event.ID)
			pq.close()
			pr.ack()
			return
		}
	}
	if !pq.asleep || w.calm {
		w.must(pr.delivery.InProgress())
	}
	message, asked, err := busagent.PermitRequest(a.name, &pr.event, pq.id, pq.call, w.now)
	w.must(err)
	if !asked {
		w.violate(RequestsAreProper, "request %s names no shard to ask for a permit", pr.event.ID)
	}
	if w.configuration.formers && once(w.formers, 2) {
		message.Header = nil // as any NATS client writes it
	}
	publish := func() {
		_, err := a.worker.Publish(context.Background(), message)
		w.must(err)
	}
	switch {
	case w.calm || !w.once(4):
		publish()
	case w.once(3): // lost
	case w.once(2):
		publish()
		publish()
	default:
		w.limbo = append(w.limbo, publish)
	}
	a.later(askEvery, pq.ask)
}

func (pq *permitQuestion) close() {
	pq.over = true
	delete(pq.q.agent.questions, pq.id)
}

// hear takes one answer about a permit, or loses it, or hears it much later.
func (a *agent) hear() bool {
	select {
	case answer := <-a.worker.Permitted():
		w := a.world
		switch {
		case a.questions[answer.Permit] == nil || !w.calm && w.once(8):
		case !w.calm && w.once(8):
			a.later(w.span(20*time.Second), func() { a.told(&answer) })
		default:
			a.told(&answer)
		}
		return true
	default:
		return false
	}
}

func (a *agent) told(answer *schemas.PermitAnswer) {
	asks := a.questions[answer.Permit]
	if asks == nil {
		return
	}
	asks.close()
	pr := asks.q
	switch {
	case answer.Granted:
		pr.call = asks.call
		pr.allowed(asks.id)
	case answer.Reason == schemas.PermitElsewhere:
		pr.ack() // its answer comes by callback
	case answer.Reason == schemas.PermitGone:
		// It is another process's by now: neither an answer nor an acknowledgment.
	case answer.Reason == schemas.PermitUnapproved:
		pr.refused = true
		pr.fail(pick(a.world.refusing(), schemas.StatusBlocked, schemas.StatusBlocked, schemas.StatusFailed), schemas.ResolutionEscalated)
		pr.ack()
	default:
		pr.refused = true
		pr.fail(schemas.StatusFailed, schemas.ResolutionEscalated)
		pr.ack()
	}
}

// allowed acts, now or later, or not at all.
func (pr *pendingRequest) allowed(permit string) {
	a, w := pr.agent, pr.agent.world
	pr.permit = permit
	act := func() {
		w.act(pr)
		pr.behave()
	}
	if w.calm || w.rand.IntN(100) >= w.configuration.unruly {
		act()
		return
	}
	switch w.rand.IntN(6) {
	case 0: // it has had a permit, and says that it did nothing
		if pr.lacks(2) {
			return
		}
		failed := func() { pr.fail(schemas.StatusFailed, schemas.ResolutionDeferred); pr.ack() }
		if w.further != nil && pr.notice() && once(w.further, 2) { // maybe when its run has ended
			a.later(time.Duration(w.further.Int64N(int64(20*time.Second))), failed)
			return
		}
		failed()
	case 1: // it dies before it acts
		a.later(a.wait, func() {})
	case 2: // it acts much later
		a.later(w.span(30*time.Second), act)
	case 3: // it dies after it has acted
		w.act(pr)
		a.later(a.wait, func() {})
	default:
		act()
	}
}

func (w *World) act(pr *pendingRequest) {
	pr.acted = true
	pr.reaches()
	w.acts = append(w.acts, act{
		agent: pr.agent.name, request: pr.event.ID, effect: pr.event.EffectID, permit: pr.permit, call: pr.call,
		shard: pr.shard(), after: w.last(pr.shard()), at: w.now,
	})
}

// brought reports whether the permit that came along with a request is to be used.
func (pr *pendingRequest) brought() bool { return pr.event.Permit != "" && pr.first }

// doubtful reports whether an agent that fails cannot be sure that its effect has
// not happened: it has acted, or maybe another process has that was permitted, unless it
// was handed the permit that came along itself. For a question nobody has. Who was refused knows
// what it has not done, and nothing of others.
func (pr *pendingRequest) doubtful() bool {
	return pr.agent.external && pr.task.Context.Kind.IsWork() && !pr.refused && (pr.acted || pr.permit == "" && !pr.brought() && !(pr.delivery.Deliveries() == 1 && fault.Is("who is handed a request as if for the first time knows that nothing was done")))
}

// hasTaint reports whether in the world of a seed strangers may have little done. No world that is known to catch another bug is
// one (fault_table_test.go, testdata/seeds.txt).
func hasTaint(seed uint64) bool { return seed%64 == 48 }

// taint is what a world has whose profiles say what becomes of the words of strangers. Mail and chat are theirs, and some requests bring some.
type taint struct {
	rand    *rand.Rand
	strange map[string]bool // requests, by id
}

func newTaint(w *World) *taint {
	if !hasTaint(w.Seed) || w.signatories != nil {
		return nil
	}
	c := &w.configuration
	c.permits = true
	c.demand[adapterRequest], c.demand[adapterPlan] = c.demand[adapterRequest]+1, c.demand[adapterPlan]+1
	return &taint{rand: source(w.Seed, taintStream), strange: map[string]bool{}}
}

// declare says in profiles what strangers may have done, and has their templates hold some of it.
func (t *taint) declare(sources []schemas.Profile) {
	if t == nil {
		return
	}
	known := map[string]schemas.ActionKnown{}
	for _, name := range workers {
		known[name] = pick(t.rand, "", schemas.ActionArguments, schemas.ActionNamed, schemas.ActionNamed)
	}
	for i := range sources {
		p := &sources[i]
		p.Delivery.OnTainted = pick(t.rand, "", "", schemas.OnTaintedAllow, schemas.OnTaintedAsk)
		for n := range p.Agents {
			if slices.Contains(workers[:], p.Agents[n].Name) && once(t.rand, 2) {
				p.Agents[n].Fallback = p.Agents[(n+1)%len(workers)].Name
			}
			p.Agents[n].Action = known[p.Agents[n].Name]
			p.Agents[n].OnTainted = pick(t.rand, "", schemas.OnTaintedAsk, schemas.OnTaintedRefuse, schemas.OnTaintedAllow)
		}
		if p.Planner == nil {
			continue
		}
		for n := range p.Planner.Templates {
			tasks := p.Planner.Templates[n].Tasks
			for k := range tasks {
				tasks[k].Arguments = pick(t.rand, nil, jsontext.Value(`{"number":1}`), jsontext.Value(`{"number":"{request}"}`))
			}
		}
	}
}

// stain has a request bring words of a stranger, or say that it does, or neither.
func (t *taint) stain(request string, tasks []schemas.Task) {
	if t == nil || len(tasks) == 0 || once(t.rand, 2) {
		return
	}
	t.strange[request] = true
	if about := &tasks[t.rand.IntN(len(tasks))].Context; once(t.rand, 2) {
		about.Request = "please"
	} else {
		about.References, about.Tainted = []string{"https://stranger.sim"}, []string{"/references"}
	}
}

// does is what an agent says that it will do: what it was given, something else, or nothing.
func (t *taint) does(pr *pendingRequest) string {
	if t == nil || once(t.rand, 4) {
		return ""
	}
	action := schemas.Action{Data: pr.task.Context.Arguments}
	if once(t.rand, 3) {
		action.Data = jsontext.Value(`{"else":true}`)
	}
	call, err := action.Call()
	pr.agent.world.must(err)
	return call
}

// refusing is the source for what agents say that are refused because nobody has agreed: strangers have begun it, or somebody has to agree.
func (w *World) refusing() *rand.Rand {
	if w.taint == nil {
		return w.people.approvers.rand
	}
	return w.taint.rand
}
