package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/schemas"
)

// An agent takes requests like a real one and answers as the seed wants it.
type agent struct {
	world  *World
	name   string
	worker *memory.Worker
	wait   time.Duration // of the bus, for a sign of life
	held   []held
	nested map[string]schemas.Event // a tower's requests, as it passed them on

	external  bool                       // it asks before it acts
	questions map[string]*permitQuestion // by permit
}

// held is something an agent does later.
type held struct {
	at   time.Time
	what func()
}

// asked is one request in an agent's hands.
type pendingRequest struct {
	agent    *agent
	delivery bus.Delivery
	event    schemas.Event
	request  schemas.ExecutionRequest
	task     *schemas.Task
	permit   string // the permit that it has; empty is none
	call     string // what it was permitted to do
	acted    bool
	refused  bool // a permit
	first    bool // nobody was handed it before, as bus.IsFirstDelivery has it
}

func (w *World) agent(name string, size int) *agent {
	a := &agent{
		world: w, name: name, worker: w.ledger.Worker(name), wait: w.configuration.wait,
		external: w.configuration.permits && w.external(name), questions: map[string]*permitQuestion{},
	}
	w.must(w.ledger.Declare(context.Background(), name, bus.Pool{Size: size, AckWait: a.wait}))
	if name == tower {
		a.nested = map[string]schemas.Event{}
	}
	return a
}

func (a *agent) step() bool {
	for i := range a.held {
		if !a.held[i].at.After(a.world.now) {
			what := a.held[i].what
			a.held = slices.Delete(a.held, i, i+1)
			what()
			return true
		}
	}
	if a.nested != nil && a.forgo() || a.hear() {
		return true
	}
	deliveries := a.worker.TryFetch(1)
	for _, delivery := range deliveries {
		a.take(delivery)
	}
	return len(deliveries) > 0
}

func (a *agent) take(delivery bus.Delivery) {
	w := a.world
	event, err := artifact.DecodeWhole(context.Background(), w.ledger.Artifacts(), delivery.Message())
	if err != nil {
		w.violate(RequestsAreProper, "a request cannot be read: %v", err)
		return
	}
	request, err := schemas.DecodeExecutionRequest(event.Data)
	if err != nil {
		w.violate(RequestsAreProper, "request %s is malformed: %v", event.ID, err)
		return
	}
	if request.To != a.name || request.MessageID != event.ID || len(request.Payload.Tasks) != 1 {
		w.violate(RequestsAreProper, "request %s to agent %s reached agent %s", event.ID, request.To, a.name)
		return
	}
	asked := &pendingRequest{
		agent: a, delivery: delivery, event: event, request: request, task: &request.Payload.Tasks[0], first: bus.IsFirstDelivery(&event, delivery),
	}
	asked.readsWhatItMay()
	if !event.Expires.IsZero() && w.now.After(event.Expires) {
		asked.ack() // nobody waits any more
		return
	}
	if a.nested != nil {
		if asked.task.Context.Kind.IsWork() {
			a.passOn(asked)
			return
		}
		asked.fail(schemas.StatusFailed, schemas.ResolutionEscalated) // a supervisor answers no questions
		asked.ack()
		return
	}
	asked.seek()
}

func (pr *pendingRequest) ack() { pr.agent.world.must(pr.delivery.Ack(context.Background())) }

// behave picks what the agent does with a request.
func (pr *pendingRequest) behave() {
	w := pr.agent.world
	if !pr.agent.external {
		pr.reaches()
	}
	if pr.returns() || pr.goesOnElsewhere() || pr.failsForGood() {
		return
	}
	if !w.calm && w.now.Before(w.down[pr.agent.name]) {
		if !w.once(4) { // else it says nothing
			pr.fail(schemas.StatusFailed, schemas.ResolutionDeferred)
		}
		pr.ack()
		return
	}
	if w.calm || w.rand.IntN(100) >= w.configuration.unruly {
		pr.answer()
		pr.ack()
		return
	}
	switch w.rand.IntN(16) {
	case 0: // takes its time, with signs of life
		pr.work(w.span(20 * time.Second))
	case 1: // answers twice, and not the same
		pr.answer()
		pr.answer()
		pr.ack()
	case 2:
		pr.fail(schemas.StatusFailed, schemas.ResolutionDeferred)
		pr.ack()
	case 3:
		pr.fail(pick(w.rand, schemas.StatusFailed, schemas.StatusBlocked), schemas.ResolutionEscalated)
		pr.ack()
	case 4: // garbage, then silence
		pr.garbage()
		pr.ack()
	case 5: // somebody else answers first
		pr.respondAs(stranger(pr.agent.name), pr.request.MessageID, pr.made())
		pr.answer()
		pr.ack()
	case 6: // answers a request that nobody made
		pr.respondAs(pr.agent.name, schemas.RequestID(w.rand.IntN(w.configuration.shards), 1, "nobody", "t1", 1), pr.made())
		pr.ack()
	case 7: // never answers
		pr.ack()
	case 8: // crashes: the bus hands the request out again
		pr.agent.later(pr.agent.wait, func() {})
	case 9: // answers far too late
		pr.ack()
		pr.agent.later(time.Minute+w.span(5*time.Minute), pr.answer)
	case 10: // answers, and crashes before it acknowledges
		pr.answer()
		pr.agent.later(pr.agent.wait, func() {})
	case 11: // answers about when its deadline passes
		pr.progress(5)
		pr.ack()
		pr.agent.later(4*time.Second+w.span(30*time.Second), pr.answer)
	case 12: // begins, and crashes for good
		pr.progress(20)
		pr.ack()
	case 13: // something that is no answer of use
		pr.respond(pr.nonsense())
		pr.ack()
	case 14: // speaks on after its answer
		pr.answer()
		pr.progress(70)
		pr.ack()
	case 15: // fails, and then has done it all the same
		pr.fail(schemas.StatusFailed, schemas.ResolutionDeferred)
		pr.answer()
		pr.ack()
	}
}

// work answers after a while and gives signs of life meanwhile.
func (pr *pendingRequest) work(span time.Duration) {
	w := pr.agent.world
	pr.progress(10)
	const often = 2 * time.Second
	begun := w.now
	var on func()
	on = func() {
		w.must(pr.delivery.InProgress())
		if w.now.Sub(begun) >= span {
			pr.answer()
			pr.ack()
			return
		}
		pr.progress(10 + w.rand.IntN(80))
		pr.agent.later(often, on)
	}
	pr.agent.later(often, on)
}

func (a *agent) later(wait time.Duration, what func()) {
	a.held = append(a.held, held{at: a.world.now.Add(wait), what: what})
}

func stranger(name string) string {
	if name == alpha {
		return beta
	}
	return alpha
}

// passOn makes a request to a tower an input of the session that works on it.
func (a *agent) passOn(pr *pendingRequest) {
	w := a.world
	event := pr.event
	event.Profile, event.PartitionKey = inner, pr.event.EffectID
	a.nested[event.ID] = event
	shard := schemas.ShardOf(event.Session(), w.configuration.shards)
	if w.people != nil {
		w.people.threads[event.Session()] = thread{event.Profile, event.PartitionKey}
	}
	w.publish(bus.InSubject("agent", shard), &event)
	if w.calm || !w.once(8) {
		pr.ack() // else it crashes before, and passes it on again
	} else {
		a.later(a.wait, func() {})
	}
}

// forgo passes on that nobody waits for a request any more.
func (a *agent) forgo() bool {
	select {
	case request := <-a.worker.Cancelled():
		passed, known := a.nested[request]
		if !known {
			return true
		}
		w := a.world
		shard := schemas.ShardOf(schemas.SessionID(passed.Profile, passed.PartitionKey), w.configuration.shards)
		w.tell(w.id("forgo"), thread{passed.Profile, passed.PartitionKey}, shard, schemas.Control{Action: schemas.ControlCancel, Request: request, By: a.name})
		return true
	default:
		return false
	}
}

// callsBack reports whether an agent answers by callback in the world of a seed. No world that is known to catch a bug without that is one
// (fault_table_test.go, testdata/seeds.txt).
func callsBack(seed uint64) bool { return seed%32 == 2 || seed%64 == 17 }

// callbacks are what a world has whose agents let go of requests and answer later. One of them may, and another one says
// that it does.
type callbacks struct {
	rand     *rand.Rand
	agent    string
	claims   string // that it waits, and may not
	external bool   // what the agent does are effects outside
}

func newCallbacks(w *World) *callbacks {
	if !callsBack(w.Seed) {
		return nil
	}
	c := &callbacks{rand: source(w.Seed, callbackStream)}
	c.agent, c.claims = alpha, pick(c.rand, beta, gamma)
	if once(c.rand, 3) {
		c.agent, c.claims = beta, alpha
	}
	if c.external = once(c.rand, 2); c.external {
		w.configuration.permits = true
	}
	return c
}

// declare says in profiles who answers by callback. Most of them promise signs of life, so that silence means something.
func (c *callbacks) declare(sources []schemas.Profile) {
	if c == nil {
		return
	}
	for i := range sources {
		sources[i].Retry.Attempts = max(sources[i].Retry.Attempts, 3)
		for n := range sources[i].Agents {
			switch use := &sources[i].Agents[n]; use.Name {
			case c.agent:
				use.Async, use.Work = true, pick(c.rand, use.Work, seconds(5), seconds(60), seconds(600))
				if !once(c.rand, 4) {
					use.Heartbeat = seconds(2)
				}
				use.SideEffects, use.OnUnknown = "", ""
				if c.external {
					use.SideEffects, use.OnUnknown = schemas.SideEffectsExternal, pick(c.rand, "", schemas.OnUnknownResend, schemas.OnUnknownAsk)
				}
			case c.claims:
				use.Heartbeat = seconds(2)
			}
		}
	}
}

// async is what owners are told of it; nil in worlds without.
func (c *callbacks) async() func(string) bool {
	if c == nil {
		return nil
	}
	return c.is
}

func (c *callbacks) is(agent string) bool { return c != nil && agent == c.agent }

// goesOnElsewhere has the agent let go of a request and answer later, or say that it does, and reports whether it has.
func (pr *pendingRequest) goesOnElsewhere() bool {
	c, w := pr.agent.world.callbacks, pr.agent.world
	switch {
	case c == nil || !pr.task.Context.Kind.IsWork():
		return false
	case pr.agent.name == c.claims && !w.calm && once(c.rand, 4):
		pr.waits(pr.event.Expires)
		pr.ack()
		if once(c.rand, 2) {
			pr.agent.later(c.span(time.Minute), pr.answer)
		}
		return true
	case pr.agent.name != c.agent || once(c.rand, 8):
		return false
	case w.calm:
		pr.waits(pr.event.Expires)
		pr.ack()
		pr.agent.later(c.span(4*time.Second), pr.answer)
		return true
	}
	pr.callBack(c)
	return true
}

func (c *callbacks) span(most time.Duration) time.Duration {
	return time.Duration(c.rand.Int64N(int64(most)))
}

// callBack is what becomes of a request once the endpoint has accepted it. The endpoint lives on, whatever becomes of the process.
func (pr *pendingRequest) callBack(c *callbacks) {
	a, w := pr.agent, pr.agent.world
	soon, expired := c.span(8*time.Second), max(pr.event.Expires.Sub(w.now), 0)
	switch c.rand.IntN(16) {
	case 0: // never
		pr.waits(pr.event.Expires)
	case 1: // when nobody waits for this attempt any more, and maybe for the next one
		pr.waits(pr.event.Expires)
		a.later(expired+c.span(20*time.Second), pr.answer)
	case 2: // when the run has ended
		pr.waits(pr.event.Expires)
		a.later(10*time.Minute+c.span(30*time.Minute), pr.answer)
	case 3: // twice, and not the same
		pr.waits(pr.event.Expires)
		a.later(soon, pr.answer)
		a.later(soon+c.span(10*time.Second), pr.answer)
	case 4, 12, 13: // that it failed, and then again, when the next attempt may be under way
		pr.waits(pr.event.Expires)
		failed := func() { pr.fail(schemas.StatusFailed, schemas.ResolutionDeferred) }
		a.later(soon, failed)
		a.later(soon+time.Second+c.span(6*time.Second), pick(c.rand, failed, pr.answer))
	case 5: // before the process has said that it waits
		pr.answer()
		pr.waits(pr.event.Expires)
	case 6: // after the service has crashed, which has not let go
		pr.waits(pr.event.Expires)
		a.later(soon, pr.answer)
		a.later(a.wait, func() {})
		return
	case 7: // the same, and it has not said anything either
		a.later(soon, pr.answer)
		a.later(a.wait, func() {})
		return
	case 8: // it says that it waits for less than it does, and then for longer
		pr.waits(w.now.Add(c.span(4 * time.Second)))
		a.later(2*time.Second, func() { pr.waits(pr.event.Expires.Add(24 * time.Hour)) })
		a.later(max(expired-c.span(4*time.Second), soon), pr.answer)
	case 9: // the connection has broken, and the endpoint had it all the same
		pr.leavesOpen()
		a.later(soon, pr.answer)
	case 10: // it gives a sign of life as well
		pr.waits(pr.event.Expires)
		a.later(soon, func() { pr.progress(50) })
		a.later(expired/2+soon, pr.answer)
	case 11: // about when its time is over
		pr.waits(pr.event.Expires)
		a.later(max(expired-time.Second+c.span(2*time.Second), 0), pr.answer)
	case 14: // to the first address alone, when some attempts were given up
		pr.waits(w.now.Add(c.span(time.Second)))
		if pr.event.Attempt == 1 {
			a.later(10*time.Second+c.span(40*time.Second), pr.answer)
		}
	default:
		pr.waits(pr.event.Expires)
		a.later(soon, pr.answer)
	}
	pr.ack()
}

// leavesOpen says that nobody knows what has become of an effect.
func (pr *pendingRequest) leavesOpen() {
	pr.respond(schemas.ResponsePayload{
		Status: schemas.StatusFailed, PlanID: pr.request.Payload.PlanID,
		IssuesEncountered: []schemas.Issue{{
			IssueID: "1", TaskID: pr.task.TaskID, Agent: pr.agent.name, Severity: "high", Description: "the connection broke",
			Resolution: schemas.ResolutionDeferred, EffectUnknown: true,
		}},
	})
}
