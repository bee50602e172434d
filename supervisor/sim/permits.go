package sim

import (
	"context"
	"time"

	"podium/bus"
	busagent "podium/bus/agent"
	"podium/schemas"
)

// A question is an agent's question for leave to act. It is asked again with the
// same id until somebody answers, as bus.Permit does.
type question struct {
	q      *asked
	id     string
	calmly int  // how often it was asked when nothing went wrong any more
	asleep bool // its process gives no sign of life meanwhile
	over   bool
}

// An act is an effect in the world outside.
type act struct {
	agent, request, effect string
	permit                 string // the leave that it was done by
	shard                  int
	after                  uint64 // the newest message of the shard then
	at                     time.Time
}

const (
	askEvery   = time.Second // as package bus has it
	askEnough  = 20          // in a calm world one question is enough, but for those who are slow to hear
	askForgets = 10          // one process of so many dies while it waits
)

// seek asks for leave to act, and acts once that is given. An agent without side
// effects just works, and so does one that is asked a question, but for the odd one.
func (q *asked) seek() {
	a, w := q.agent, q.agent.world
	switch {
	case !a.external || !w.calm && w.once(16): // without an act, sometimes
		q.behave()
		return
	case !q.task.Context.Kind.IsWork() && (w.calm || !w.once(3)):
		q.behave()
		return
	case q.brought():
		q.allowed(q.event.Permit)
		return
	}
	asks := &question{q: q, id: schemas.PlanID(w.id("permit")), asleep: !w.calm && w.once(6)}
	a.questions[asks.id] = asks
	if !w.calm && w.once(40) {
		q.intrude()
	}
	asks.ask()
	if !w.calm && w.once(askForgets) {
		asks.close() // it dies; the bus hands the request out again
		a.later(a.wait, func() {})
	}
}

// intrude asks for what no agent is to ask for.
func (q *asked) intrude() {
	w := q.agent.world
	id, name, event := schemas.PlanID(w.id("permit")), q.agent.name, q.event
	switch w.rand.IntN(3) {
	case 0:
		name = stranger(name)
		event.ReplyTo = bus.ResponseSubject(name, q.shard())
	case 1:
		id = schemas.PermitID(event.ID)
	case 2:
		event.ID = schemas.RequestID(q.shard(), 1, "nobody", "t1", 1)
	}
	message, _, err := busagent.PermitRequest(name, &event, id, w.now)
	w.must(err)
	w.ledger.Publish(message, bus.Expect{}, func(_ bus.Ack, err error) { w.must(err) })
}

// ask asks once, and again later.
func (s *question) ask() {
	q, a, w := s.q, s.q.agent, s.q.agent.world
	switch {
	case s.over:
		return
	case !q.event.Expires.IsZero() && w.now.After(q.event.Expires):
		s.close() // nobody waits for the effect any more
		q.ack()
		return
	case w.calm:
		if s.calmly++; s.calmly > askEnough {
			w.violate(QuestionsAnswered, "agent %s hears nothing of permit %s for request %s", a.name, s.id, q.event.ID)
			s.close()
			q.ack()
			return
		}
	}
	if !s.asleep || w.calm {
		w.must(q.delivery.InProgress())
	}
	message, asked, err := busagent.PermitRequest(a.name, &q.event, s.id, w.now)
	w.must(err)
	if !asked {
		w.violate(RequestsAreProper, "request %s names no shard to ask for leave", q.event.ID)
	}
	if w.shape.formers && once(w.formers, 2) {
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
	a.later(askEvery, s.ask)
}

func (s *question) close() {
	s.over = true
	delete(s.q.agent.questions, s.id)
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
	q := asks.q
	switch {
	case answer.Granted:
		q.allowed(asks.id)
	case answer.Reason == schemas.PermitGone:
		// It is another process's by now: neither an answer nor an acknowledgment.
	default:
		q.fail(schemas.StatusFailed, schemas.ResolutionEscalated)
		q.ack()
	}
}

// allowed acts, now or later, or not at all.
func (q *asked) allowed(permit string) {
	a, w := q.agent, q.agent.world
	q.permit = permit
	act := func() {
		w.act(q)
		q.behave()
	}
	if w.calm || w.rand.IntN(100) >= w.shape.unruly {
		act()
		return
	}
	switch w.rand.IntN(6) {
	case 0: // it has had leave, and says that it did nothing
		q.fail(schemas.StatusFailed, schemas.ResolutionDeferred)
		q.ack()
	case 1: // it dies before it acts
		a.later(a.wait, func() {})
	case 2: // it acts much later
		a.later(w.span(30*time.Second), act)
	case 3: // it dies after it has acted
		w.act(q)
		a.later(a.wait, func() {})
	default:
		act()
	}
}

func (w *World) act(q *asked) {
	q.acted = true
	w.acts = append(w.acts, act{
		agent: q.agent.name, request: q.event.ID, effect: q.event.EffectID, permit: q.permit,
		shard: q.shard(), after: w.last(q.shard()), at: w.now,
	})
}

// brought reports whether the leave that came along with a request is to be used.
func (q *asked) brought() bool { return q.event.Permit != "" && q.first }

// doubtful reports whether an agent that fails cannot be sure that its effect has
// not happened: it has acted, or maybe another process has that was permitted, unless it
// was handed the leave that came along itself. For a question nobody has.
func (q *asked) doubtful() bool {
	return q.agent.external && q.task.Context.Kind.IsWork() && (q.acted || q.permit == "" && !q.brought())
}
