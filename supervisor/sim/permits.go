package sim

import (
	"context"
	"time"

	"podium/bus"
	busagent "podium/bus/agent"
	"podium/schemas"
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
	shard                  int
	after                  uint64 // the newest message of the shard then
	at                     time.Time
}

const (
	askEvery   = time.Second // as package bus has it
	askEnough  = 20          // in a calm world one question is enough, but for those who are slow to hear
	askForgets = 10          // one process of so many dies while it waits
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
	asks := &permitQuestion{q: pr, id: schemas.PlanID(w.id("permit")), asleep: !w.calm && w.once(6)}
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
		pr.allowed(asks.id)
	case answer.Reason == schemas.PermitElsewhere:
		pr.ack() // its answer comes by callback
	case answer.Reason == schemas.PermitGone:
		// It is another process's by now: neither an answer nor an acknowledgment.
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
		agent: pr.agent.name, request: pr.event.ID, effect: pr.event.EffectID, permit: pr.permit,
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
	return pr.agent.external && pr.task.Context.Kind.IsWork() && !pr.refused && (pr.acted || pr.permit == "" && !pr.brought())
}
