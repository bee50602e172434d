package admission_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/admission"
	"podium/supervisor/eventloop"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// The profile of every session: its text says how urgent the one task is, and which
// resources that needs for itself.
func profile(tb testing.TB) *plan.Profile {
	tb.Helper()
	template := func(word string, priority schemas.Priority, resources ...string) schemas.Template {
		return schemas.Template{
			Name: word, Keywords: []schemas.Keyword{{Word: word, Mode: schemas.ModeWord}},
			Tasks: []schemas.TemplateTask{{Task: "t1", Description: word, Agent: "worker", Priority: priority, Resources: resources}},
		}
	}
	return desk(tb, []schemas.AgentUse{{Name: "worker"}}, schemas.Router{Kind: schemas.RouterDefault, Agent: "worker"},
		template("critical", schemas.PriorityCritical), template("high", schemas.PriorityHigh), template("low", schemas.PriorityLow),
		template("print", "", "printer"), template("urgent", schemas.PriorityCritical, "printer"), template("scan", "", "scanner"), template("copy", "", "scanner", "printer", "scanner"))
}

// desk is the profile of a desk with some agents, whose requests become tasks by templates.
func desk(tb testing.TB, agents []schemas.AgentUse, router schemas.Router, templates ...schemas.Template) *plan.Profile {
	tb.Helper()
	compiled, err := plan.Compile(schemas.Profile{
		Name: "desk", Language: "en", Agents: agents, Routers: []schemas.Router{router}, Execution: schemas.Execution{Mode: schemas.ExecutionDAG},
		Planner: &schemas.Planner{Kind: schemas.PlannerTemplate, Templates: templates},
		Retry:   schemas.Retry{Attempts: 1}, Delivery: schemas.Retry{Attempts: 1},
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(10 * time.Minute), Work: schemas.Duration(10 * time.Minute)},
		Languages: []schemas.Language{{Tag: "en", Texts: schemas.Texts{
			TaskFailed: "failed: {detail}", Timeout: "too slow", NoRoute: "nobody", Cancelled: "stopped", Partial: "so far:", Empty: "done",
		}}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return compiled
}

func midnight() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// A ledger is what several shards share: the tables, the records, and the time.
type ledger struct {
	tb     testing.TB
	core   *memory.Ledger
	now    time.Time
	shards []*shard // that somebody works on
	epochs map[int]uint64
}

func newLedger(tb testing.TB, shards int) *ledger {
	tb.Helper()
	return &ledger{tb: tb, core: memory.New(shards), now: midnight(), epochs: map[int]uint64{}}
}

// A shard has sessions in memory, and a controller that says which of them may ask
// somebody. It decides and stores as an owner does, and sends nothing.
type shard struct {
	*admission.Controller
	ledger        *ledger
	number        int
	epoch         uint64
	profile       *plan.Profile
	conversations map[string]*conversation
	inputs        map[uint64]session.Input
	ready         []*admission.Demand
	unread        bool // some of what is under way in it may not be known yet
}

// A session is a live session.
type conversation struct {
	thread   string
	state    session.State
	sequence uint64 // of its newest record
	tip      schemas.Tip
	demand   admission.Demand
	busy     bool // with something else, so that it uses no grant
}

// Live implements admission.Sessions.
func (s *shard) Live(a *admission.Demand) bool {
	c := s.conversations[a.State.Session]
	return c != nil && &c.demand == a
}

// InOrder implements admission.Sessions.
func (s *shard) InOrder() iter.Seq[*admission.Demand] {
	return func(yield func(*admission.Demand) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.conversations)) {
			if !yield(&s.conversations[id].demand) {
				return
			}
		}
	}
}

// open takes a shard over. What its last owner had in memory is not known to it: see load.
func (l *ledger) open(number int, change func(*admission.Config)) *shard {
	l.tb.Helper()
	l.epochs[number]++
	s := &shard{
		ledger: l, number: number, epoch: l.epochs[number], profile: profile(l.tb),
		conversations: map[string]*conversation{}, inputs: map[uint64]session.Input{},
	}
	config := admission.Config{
		Shard: number, Core: l.core, Loop: eventloop.New(func(operation func()) { operation() }),
		Backoff: eventloop.Backoff(time.Second), Log: zerolog.Nop(), Sessions: s,
	}
	if change != nil {
		change(&config)
	}
	s.Controller = admission.New(config)
	if err := s.Open(l.tb.Context(), s.epoch, l.now); err != nil {
		l.tb.Fatal(err)
	}
	s.Join()
	l.shards = append(l.shards, s)
	return s
}

// crash ends the work on a shard, and says goodbye to nobody.
func (l *ledger) crash(s *shard) {
	l.shards = slices.DeleteFunc(l.shards, func(other *shard) bool { return other == s })
}

// load gives a shard the sessions that a former owner has had.
func (s *shard) load(former *shard) {
	s.inputs = former.inputs
	for _, id := range slices.Sorted(maps.Keys(former.conversations)) {
		was := former.conversations[id]
		c := s.conversation(was.thread)
		c.state, c.sequence, c.tip = was.state, was.sequence, was.tip
		c.demand.MarkInherited()
		s.Track(&c.demand)
	}
}

func (s *shard) conversation(thread string) *conversation {
	id := schemas.SessionID("desk", thread)
	c := s.conversations[id]
	if c == nil {
		c = &conversation{thread: thread, state: session.New(id)}
		c.demand.State = &c.state
		s.conversations[id] = c
	}
	return c
}

// An undecided decision is made and not stored.
type undecided struct {
	c       *conversation
	outcome session.Outcome
}

// decide decides an input, which may reserve room.
func (s *shard) decide(c *conversation, input session.Input) undecided {
	input.Now = s.ledger.now
	s.BeginTurn(s.ledger.now, s.ledger.now.Add(time.Second))
	return undecided{c, session.Step(session.Env{
		Shard: s.number, Current: s.profile, Pinned: s.profile, Admission: s.AdmissionFor(&c.demand, &input),
		Read:    func(body schemas.Content) schemas.Result { in := s.inputs[body.Sequence]; return in.Content() },
		InputAt: func(sequence uint64) session.Input { return s.inputs[sequence] },
	}, c.state, input)}
}

// store makes a decision the ledger's, and reports whether there was anything to store.
func (s *shard) store(made undecided) bool {
	s.ledger.tb.Helper()
	c, outcome := made.c, made.outcome
	if len(outcome.Facts) == 0 {
		s.Release(&c.demand)
		return false
	}
	record := schemas.Record{Session: c.state.Session, Number: outcome.State.Records, Epoch: s.epoch, Transitions: []schemas.Transition{{Cause: outcome.Cause, Facts: outcome.Facts}}}
	body, err := schemas.Marshal(record)
	if err != nil {
		s.ledger.tb.Fatal(err)
	}
	trail := c.tip.Next(&record)
	message, err := binding.Encode(bus.SessionSubject(record.Session, s.ledger.core.Shards()), &schemas.Event{
		ID: record.Session + "/" + strconv.FormatUint(record.Number, 10), Source: "/test", Type: schemas.TypeRecord, Time: s.ledger.now,
		PreviousSequence: c.sequence, Trail: trail, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	if err != nil {
		s.ledger.tb.Fatal(err)
	}
	ack, err := bus.Append(context.Background(), s.ledger.core, message, bus.Expect{})
	if err != nil {
		s.ledger.tb.Fatal(err)
	}
	s.Observe(&c.demand, &record)
	for i := range outcome.Outputs {
		if outcome.Outputs[i].Kind == session.OutputReusable {
			s.RememberResult(outcome.Outputs[i].Reuse, s.ledger.now)
		}
	}
	c.state, c.sequence, c.tip = outcome.State, ack.Sequence, c.tip.After(&record, trail, ack.Sequence)
	s.Track(&c.demand)
	s.ready = append(s.ready, &c.demand)
	return true
}

// settle lets all shards do what they can at this moment.
func (l *ledger) settle() {
	l.tb.Helper()
	for range 1000 {
		worked := false
		for _, s := range l.shards {
			worked = s.turn() || worked
		}
		if !worked {
			return
		}
	}
	l.tb.Fatal("they never come to rest")
}

// after lets time pass, second by second.
func (l *ledger) after(span time.Duration) {
	l.tb.Helper()
	for end := l.now.Add(span); l.now.Before(end); {
		l.now = l.now.Add(min(time.Second, end.Sub(l.now)))
		l.settle()
	}
}

func (s *shard) turn() bool {
	s.BeginTurn(s.ledger.now, s.ledger.now.Add(time.Second))
	worked := s.Loop.Turn(s.ledger.now)
	s.CheckTakeoverScan(!s.unread)
	s.CheckPresence(context.Background(), true)
	worked = s.GrantWaiting(context.Background()) || worked
	s.ready = append(s.ready, s.Ready()...)
	ready := s.ready
	s.ready = nil
	for _, a := range ready {
		if c := s.conversations[a.State.Session]; c.busy {
			s.ready = append(s.ready, a)
		} else {
			s.goOn(c)
			worked = true
		}
	}
	return worked
}

// goOn uses what a session was granted.
func (s *shard) goOn(c *conversation) {
	for grant, granted := c.demand.Granted(); granted; grant, granted = c.demand.Granted() {
		if !s.GrantUsable(&c.demand) || !s.store(s.decide(c, session.Input{Grant: &grant})) {
			s.EndGrant(&c.demand)
		}
	}
	if absence := s.Absence(&c.demand, s.ledger.now); absence != nil {
		s.store(s.decide(c, session.Input{Absence: absence}))
	}
}

// input reads an event as the next input of the shard.
func (s *shard) input(event schemas.Event, agent string) session.Input {
	s.ledger.tb.Helper()
	sequence := uint64(len(s.inputs) + 1)
	input, err := session.ParseInput(event, session.Publisher{Agent: agent}, sequence)
	if err != nil {
		s.ledger.tb.Fatal(err)
	}
	s.inputs[sequence] = input
	return input
}

func (s *shard) message(thread, words string) session.Input {
	s.ledger.tb.Helper()
	return s.messageAs("", thread, words)
}

// messageAs is a message that a user of the chat has written.
func (s *shard) messageAs(user, thread, words string) session.Input {
	s.ledger.tb.Helper()
	id := fmt.Sprint(thread, " ", len(s.inputs))
	body := schemas.ChatReceived{Provider: "p", Channel: "c", Thread: thread, MessageID: id, User: schemas.ChatUser{ID: user}, Text: words}
	return s.input(s.event(thread, id, schemas.TypeChatReceived, body), "")
}

func (s *shard) event(thread, id, eventType string, body any) schemas.Event {
	s.ledger.tb.Helper()
	data, err := schemas.Marshal(body)
	if err != nil {
		s.ledger.tb.Fatal(err)
	}
	return schemas.Event{
		ID: id, Source: "/test", Type: eventType, Time: s.ledger.now, Profile: "desk", PartitionKey: thread,
		DataContentType: schemas.MediaTypeJSON, Data: data,
	}
}

// ask begins sessions with the same words, each a little later than the one before.
func (s *shard) ask(words string, threads ...string) {
	s.ledger.tb.Helper()
	s.askAs("", words, threads...)
}

// askAs is ask for a user of the chat.
func (s *shard) askAs(user, words string, threads ...string) {
	s.ledger.tb.Helper()
	for _, thread := range threads {
		s.ledger.now = s.ledger.now.Add(time.Millisecond)
		s.store(s.decide(s.conversation(thread), s.messageAs(user, thread, words)))
		s.ledger.settle()
	}
}

// answer answers the one task of a session, and lets nobody go on yet.
func (s *shard) answer(thread string, payload schemas.ResponsePayload) {
	s.ledger.tb.Helper()
	s.answerAs("worker", thread, "t1", payload)
}

func (s *shard) answerAs(agent, thread, id string, payload schemas.ResponsePayload) {
	s.ledger.tb.Helper()
	c := s.conversation(thread)
	task := c.state.Active.Task(id)
	payload.PlanID = schemas.PlanID(schemas.RunID(c.state.Session, 1))
	event := s.event(thread, schemas.ResponseID(task.Request), schemas.TypeExecutionResponse, schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(task.Request), From: agent, To: session.Supervisor,
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: s.ledger.now, InReplyTo: task.Request,
		},
		Payload: payload,
	})
	event.Subject, event.CausationID, event.Attempt = schemas.RunID(c.state.Session, 1)+"/"+id, task.Request, task.Attempt
	s.store(s.decide(c, s.input(event, agent)))
}

func done() schemas.ResponsePayload {
	return schemas.ResponsePayload{Status: schemas.StatusCompleted, Result: &schemas.Result{Text: "done"}}
}

func broken(agent, task string) schemas.ResponsePayload {
	return schemas.ResponsePayload{Status: schemas.StatusFailed, IssuesEncountered: []schemas.Issue{{
		IssueID: "1", TaskID: task, Agent: agent, Severity: "high", Description: "it broke", Resolution: schemas.ResolutionDeferred,
	}}}
}

// finish has the worker do what sessions have asked for.
func (s *shard) finish(threads ...string) {
	s.ledger.tb.Helper()
	for _, thread := range threads {
		s.answer(thread, done())
		s.ledger.settle()
	}
}

// fail has the worker fail.
func (s *shard) fail(threads ...string) {
	s.ledger.tb.Helper()
	for _, thread := range threads {
		s.answer(thread, broken("worker", "t1"))
		s.ledger.settle()
	}
}

// cancel ends what a session waits for.
func (s *shard) cancel(thread string) {
	s.ledger.tb.Helper()
	s.store(s.decide(s.conversation(thread), s.input(s.event(thread, "cancel "+thread, schemas.TypeControl, schemas.Control{
		Action: schemas.ControlCancel, Run: schemas.RunID(schemas.SessionID("desk", thread), 1), By: "operator",
	}), "")))
}

// underWay lists the sessions on whose task the worker is at work.
func (s *shard) underWay() []string { return s.underWayAt("worker") }

func (s *shard) underWayAt(agent string) []string {
	under := []string{}
	for _, c := range s.conversations {
		for task := range c.state.UnderWay {
			if task.Agent == agent {
				under = append(under, c.thread)
			}
		}
	}
	slices.Sort(under)
	return under
}

// expect names the sessions of a shard on whose task the worker is at work.
func (s *shard) expect(want ...string) {
	s.ledger.tb.Helper()
	if under := s.underWay(); !slices.Equal(under, slices.Sorted(slices.Values(want))) {
		s.ledger.tb.Fatalf("the worker is asked by %q, want %q", under, want)
	}
}

// size gives the worker a size.
func size(n int) func(*admission.Config) {
	return func(config *admission.Config) {
		config.PoolSize = func(agent string) int { return map[string]int{"worker": n}[agent] }
	}
}
