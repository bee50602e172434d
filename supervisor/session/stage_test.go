package session_test

import (
	"bytes"
	"fmt"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// startRun is when every story begins.
func start() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// conversationID is the session that every story is about.
func conversationID() string { return schemas.SessionID("story", "thread") }

// A judge ends a test that has failed: testing.TB and rapid.T are both one.
type judge interface {
	Helper()
	Fatal(arguments ...any)
	Fatalf(format string, arguments ...any)
}

// A stage plays one session without a ledger, and holds every step of it
// to the laws of the machine.
type stage struct {
	shard    int
	now      time.Time
	sequence uint64 // of the newest input
	lost     uint64 // how often the shard has had another owner

	current *plan.Profile // for new runs; a run under way keeps the one that it began with
	// unconfigured: it was taken out of the configuration.
	unconfigured bool
	profiles     map[string]*plan.Profile

	state        session.State
	formers      []session.State // before it, the oldest first
	conversation workflow.SessionHistory
	events       map[string]schemas.Event  // by id, to repeat them
	contents     map[uint64]schemas.Result // by sequence
	inputs       map[uint64]session.Input  // by sequence
	agents       agents
	answered     map[int]string           // by run: the response to whoever asked upstream
	facts        map[string]int           // how many there are, by name
	effects      map[string]string        // permits whose outcome is not known, by run and task
	mailed       []session.SentReply      // when answers by mail went out
	queued       map[int]schemas.Incoming // messages as they were queued, by run
	records      []*schemas.Record
	moves        map[string]bool // of runs and tasks, as the drawing has them

	decides func(session.Input) decided // in place of step, when it is there
}

func newStage(tb judge, profile schemas.Profile) *stage {
	tb.Helper()
	s := &stage{
		shard: 3, now: start(), state: session.New(conversationID()), profiles: map[string]*plan.Profile{},
		events: map[string]schemas.Event{}, contents: map[uint64]schemas.Result{}, inputs: map[uint64]session.Input{}, answered: map[int]string{}, facts: map[string]int{}, moves: map[string]bool{}, effects: map[string]string{}, queued: map[int]schemas.Incoming{},
	}
	s.adopt(tb, profile)
	return s
}

// adopt puts a profile in force.
func (s *stage) adopt(tb judge, profile schemas.Profile) {
	tb.Helper()
	compiled, err := plan.Compile(profile)
	if err != nil {
		tb.Fatal(err)
	}
	s.current, s.profiles[compiled.Hash] = compiled, compiled
}

func (s *stage) env(state *session.State) session.Env {
	env := session.Env{
		Shard: s.shard, Epoch: 1 + s.lost, Current: s.current, Admission: s.agents.admissions(state, s.now), Grants: spoken{},
		Read:     func(body schemas.Content) schemas.Result { return s.contents[body.Sequence] },
		InputAt:  func(sequence uint64) session.Input { return s.inputs[sequence] },
		EndedRun: s.former,
	}
	if state.Active != nil {
		env.Pinned = s.profiles[state.Active.ProfileHash]
		if s.unconfigured {
			env.Current, env.Unconfigured = env.Pinned, true
		}
	}
	return env
}

// former returns a run that is over, as the ledger would tell it.
func (s *stage) former(run int) *session.EndedRun {
	excerpt := workflow.Excerpt{Session: s.state.Session, Number: run}
	for _, record := range s.records {
		if err := excerpt.Apply(record); err != nil {
			panic(err) // no such record was decided
		}
	}
	former := &session.EndedRun{History: excerpt.Run()}
	if former.History != nil {
		former.Profile = s.profiles[former.History.ProfileHash]
	}
	return former
}

// A decided is what came of one input.
type decided struct {
	outcome session.Outcome
	record  *schemas.Record // nil when nothing changed
	outputs []session.Output
}

// take gives an event to the session as the next input of the shard.
func (s *stage) take(tb judge, event schemas.Event, agent string) (decided, error) {
	tb.Helper()
	by := session.Publisher{Agent: agent}
	if event.Type == schemas.TypeExecutionRequest {
		by.Adapter = schemas.ChannelAgent
	}
	s.sequence++
	input, err := session.ParseInput(event, by, s.sequence)
	if err != nil {
		return decided{}, err
	}
	input.Now = s.now
	for _, artifact := range input.References {
		if artifact.Grant == "put" || artifact.Grant == "given" && input.Message != nil {
			input.Proven = append(input.Proven, artifact.SHA256)
		}
	}
	s.contents[s.sequence], s.inputs[s.sequence] = input.Content(), input
	return s.step(tb, input), nil
}

// spoken are grants that say what they are. What an agent has put comes with the
// grant "put", what a request brings with "given"; any other is a forgery.
type spoken struct{}

func (spoken) Read(agent, _, _ string, _ time.Time) string { return agent + " may read" }

func (spoken) Put(agent, _ string) string { return agent + " may pass on" }

// takes is take for an event that can be read.
func (s *stage) takes(tb judge, event schemas.Event) decided {
	tb.Helper()
	decided, err := s.take(tb, event, "")
	if err != nil {
		tb.Fatal(err)
	}
	return decided
}

// step decides one input and fails the test when a law does not hold.
func (s *stage) step(tb judge, input session.Input) decided {
	tb.Helper()
	if s.decides != nil {
		return s.decides(input)
	}
	before := canonical(tb, s.state)
	outcome := session.Step(s.env(&s.state), s.state, input)
	again := session.Step(s.env(&s.state), s.state, input)
	if !bytes.Equal(canonical(tb, outcome), canonical(tb, again)) {
		tb.Fatalf("deciding twice differs:\n%s\n%s", canonical(tb, outcome), canonical(tb, again))
	}
	if after := canonical(tb, s.state); !bytes.Equal(before, after) {
		tb.Fatalf("the argument was changed:\n%s\n%s", before, after)
	}
	s.doubts(tb, input, &outcome)
	if len(outcome.Facts) == 0 {
		if after := canonical(tb, outcome.State); !bytes.Equal(before, after) {
			tb.Fatalf("without facts the state changed:\n%s\n%s", before, after)
		}
		return decided{outcome: outcome}
	}
	for i := range outcome.Outputs {
		if outcome.Outputs[i].Kind != session.OutputReusable {
			tb.Fatalf("beside a record there is %+v", outcome.Outputs[i])
		}
	}
	record := s.stored(tb, &outcome)
	s.redecided(tb, input, record)
	s.folds(tb, before, record, &outcome.State)
	s.follows(tb, &input, record, &outcome.State)
	s.wakes(tb, &outcome.State)
	s.rests(tb, &outcome.State)
	s.obeys(tb, record)
	s.returns(tb, record)
	s.told(tb, &outcome.State)
	decided := decided{outcome: outcome, record: record, outputs: s.owed(tb, &outcome.State, record)}
	s.agents.learn(outcome.Outputs, s.now)
	s.count(record)
	s.remember()
	s.state, s.records = outcome.State, append(s.records, record)
	return decided
}

func (s *stage) count(record *schemas.Record) {
	for _, fact := range record.First().Facts {
		s.facts[fact.Name()]++
		if judged := schemas.As[*schemas.Judged](fact); judged != nil {
			s.facts["file merged"] += len(judged.Merged)
			s.facts["judged "+string(judged.Occasion)+" "+string(judged.Outcome)]++
		}
		if changed := schemas.As[*schemas.PlanChanged](fact); changed != nil && changed.Source == schemas.OccasionReview {
			s.facts["file mended"] += len(changed.Tasks)
		}
		if settled := schemas.As[*schemas.RunSettled](fact); settled != nil && settled.Summary != "" {
			s.facts["summed up"]++
		}
		switch {
		case schemas.As[*schemas.TaskCompleted](fact) != nil && schemas.As[*schemas.TaskCompleted](fact).Reused > 0:
			s.facts["reused"]++
		case schemas.As[*schemas.TaskCompleted](fact) != nil && schemas.As[*schemas.TaskCompleted](fact).Brought > 0:
			s.facts["brought"]++
		case schemas.As[*schemas.RunStarted](fact) != nil && schemas.As[*schemas.RunStarted](fact).Retries > 0:
			s.facts["retried"]++
		case schemas.As[*schemas.InquiryOpened](fact) != nil && schemas.As[*schemas.InquiryOpened](fact).Adopts != nil:
			s.facts["adopted"]++
		case schemas.As[*schemas.RunEnded](fact) != nil && schemas.As[*schemas.RunEnded](fact).Final:
			s.facts["ended for good"]++
		case schemas.As[*schemas.ResponseLate](fact) != nil && schemas.As[*schemas.ResponseLate](fact).Undone:
			s.facts["undone"]++
		case schemas.As[*schemas.TaskFailed](fact) != nil:
			s.facts[string(schemas.As[*schemas.TaskFailed](fact).Action)]++
			s.facts[string(schemas.As[*schemas.TaskFailed](fact).Cause)]++
		}
	}
}

func canonical(tb judge, value any) []byte {
	tb.Helper()
	body, err := schemas.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// due returns the first deadline that has passed by a moment.
func (s *stage) due(moment time.Time) (first schemas.Deadline, ok bool) {
	for _, deadline := range s.state.Deadlines() {
		if !deadline.At.After(moment) && (!ok || deadline.At.Before(first.At)) {
			first, ok = deadline, true
		}
	}
	return first, ok
}

// expire rings a deadline, whether anybody waits for it or not.
func (s *stage) expire(tb judge, deadline schemas.Deadline) decided {
	tb.Helper()
	return s.step(tb, session.Input{Now: s.now, Deadline: &deadline})
}

// The events that adapters, agents and people send.

func (s *stage) event(tb judge, id, eventType string, body any) schemas.Event {
	tb.Helper()
	event := schemas.Event{
		ID: id, Source: "/podium/stage", Type: eventType, Time: s.now, Profile: "story", PartitionKey: "thread",
		DataContentType: schemas.MediaTypeJSON, Data: canonical(tb, body),
	}
	s.events[id] = event
	return event
}

func (s *stage) request(run int, task string, attempt int) string {
	return schemas.RequestID(s.shard, 1+s.lost, schemas.RunID(s.state.Session, run), task, attempt)
}

// answerTo is an answer as an agent gives it: about one attempt of a task.
func (s *stage) answerTo(tb judge, agent string, run int, task string, attempt int, payload schemas.ResponsePayload) schemas.Event {
	tb.Helper()
	request := s.request(run, task, attempt)
	payload.PlanID = schemas.PlanID(schemas.RunID(s.state.Session, run))
	event := s.event(tb, schemas.ResponseID(request), schemas.TypeExecutionResponse, schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(request), From: agent, To: session.Supervisor,
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: s.now, InReplyTo: request,
		},
		Payload: payload,
	})
	return s.about(event, run, task, attempt)
}

// about says in the attributes what an answer is about, as Serve does.
func (s *stage) about(event schemas.Event, run int, task string, attempt int) schemas.Event {
	event.Subject = schemas.RunID(s.state.Session, run) + "/" + task
	event.CausationID, event.Attempt = s.request(run, task, attempt), attempt
	return event
}

func (s *stage) progressOf(tb judge, agent string, run int, task string, attempt, percentage int, message string, waits ...time.Time) schemas.Event {
	tb.Helper()
	request := s.request(run, task, attempt)
	waits = append(waits, time.Time{})
	id := schemas.EffectID(request, fmt.Sprint(percentage, message))
	event := s.event(tb, id, schemas.TypeProgressUpdate, schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: id, From: agent, To: session.Supervisor,
			Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: s.now, InReplyTo: request,
		},
		Payload: schemas.ProgressPayload{
			PlanID:             schemas.PlanID(schemas.RunID(s.state.Session, run)),
			ProgressPercentage: percentage, Message: message, WaitingUntil: waits[0],
		},
	})
	return s.about(event, run, task, attempt)
}

func (s *stage) cancel(tb judge, id string, run int) schemas.Event {
	tb.Helper()
	return s.event(tb, id, schemas.TypeControl, schemas.Control{
		Action: schemas.ControlCancel, Run: schemas.RunID(s.state.Session, run), By: "operator",
	})
}

func (s *stage) retry(tb judge, id string, run int, from string, allowDuplicate bool) schemas.Event {
	tb.Helper()
	return s.event(tb, id, schemas.TypeControl, schemas.Control{
		Action: schemas.ControlRetry, Run: schemas.RunID(s.state.Session, run), By: "operator", From: from, AllowDuplicate: allowDuplicate,
	})
}

func (s *stage) giveUp(tb judge, id string, run int) schemas.Event {
	tb.Helper()
	return s.event(tb, id, schemas.TypeControl, schemas.Control{
		Action: schemas.ControlGiveUp, Run: schemas.RunID(s.state.Session, run), Via: schemas.ViaCLI, By: "ana", Reason: "wrong address",
	})
}

func (s *stage) resend(tb judge, id string, run int, allowDuplicate bool) schemas.Event {
	tb.Helper()
	return s.event(tb, id, schemas.TypeControl, schemas.Control{
		Action: schemas.ControlResend, Run: schemas.RunID(s.state.Session, run), By: "operator", AllowDuplicate: allowDuplicate,
	})
}
