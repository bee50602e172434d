package sim

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/verify"
)

// The invariants that speak of more than one fact.
const (
	RecordsAreChained  = "every record follows from its predecessor, whoever wrote it"
	InputsOnce         = "a session takes its inputs in order, each once"
	GrammarHolds       = "facts follow each other as the grammar of sessions says"
	RequestsEndOnce    = "every accepted message ends exactly once, with a reason"
	StartsInOrder      = "messages are taken and runs begin in order"
	BadIsQuarantined   = "what nobody can use is in quarantine, and nothing else"
	AnswersAreTaken    = "an answer is on record, or one to the same request is"
	RequestsAreProper  = "requests are well formed, reach their agent, and bring what was done of all that they build on"
	DecidedIsSent      = "what was decided is sent, and nothing else is"
	UpstreamIsAnswered = "whoever asked gets one answer, the same however often it is sent"
	DecidedAgain       = "deciding again gives the same facts"
	ComesToRest        = "when the faults are over everything is done"
)

// Invariants lists all of them.
func Invariants() []string {
	return []string{
		NothingAfterTheEnd, DependenciesFirst, LevelsInOrder, AttemptsInOrder, AnswersFit, DeadlinesInTime,
		PoolsHold, UrgentFirst, RoomIsGiven, ResultsKept, ReuseProven, CancelledForAReason, SentAgainByRequest,
		RecordsAreChained, InputsOnce, GrammarHolds, RequestsEndOnce, StartsInOrder, BadIsQuarantined,
		AnswersAreTaken, RequestsAreProper, DecidedIsSent, UpstreamIsAnswered, DecidedAgain, ComesToRest, RunsAreFound,
		WantedIsTaken, SignsOfLifeCount, QuestionsAreHeard, CountsOnce, AnswersCount, AttemptsEnd,
		PermittedOnce, PermitIsAskedFor, LeaveHolds, ActsArePermitted, QuestionsAnswered, PermitIsForWork, StrangersAreNotObeyed, EffectsHappenOnce,
		InquiriesNumbered, InquiriesEndOnce, AskedOnce, WaitingIsSilent, WaitingHoldsNothing, WordsHaveOneFate, ApprovedBeforeActing, AnswersWait,
		IdsOnce, JudgesHoldBack, BudgetHolds, ReservationsSettleOnce, ResourcesHold, BreakersHold, BreakersMove, FilesByGrant, Itself,
	}
}

// check reads the ledger and looks for anything that must not be.
func (w *World) check() {
	o := newHistory(w)
	for shard := range w.configuration.shards {
		o.read(shard)
	}
	for _, session := range o.order {
		for _, holds := range [...]func(*oracle, *sessionHistory){requestsEndOnce, startsInOrder, runsAreFound, inquiriesEndOnce, wordsHaveOneFate} {
			holds(o, session)
		}
	}
	for _, holds := range [...]func(*oracle){
		commandsAreTaken, messagesAreTaken, onlyBadIsQuarantined, answersAreTaken, attemptsEnd, decidedIsSent,
		upstreamIsAnswered, permitsHold, questionsAreHeard, actsArePermitted, actsAreNoStrangers, effectsHappenOnce,
		resourcesHold, breakersMove, decidedAgain, daysHold,
	} {
		holds(o)
	}
}

func (o *oracle) recordsFollow(session *sessionHistory, record *schemas.Record, event *schemas.Event) {
	if record.Session != session.id || record.Number != session.records+1 || event.PreviousSequence != session.sequence || event.Chain != session.chain {
		o.world.violate(RecordsAreChained, "session %s: record %d does not follow record %d", session.id, record.Number, session.records)
	}
}

func (o *oracle) inputsInOrder(s *shardHistory, session *sessionHistory, cause *schemas.Cause) {
	if cause.Sequence == 0 {
		return
	}
	input, known := s.inputs[cause.Sequence]
	if cause.Sequence <= session.applied || !known {
		o.world.violate(InputsOnce, "session %s takes input %d after %d", session.id, cause.Sequence, session.applied)
		return
	}
	session.applied = cause.Sequence
	s.taken[cause.Sequence] = cause.Time
	if event, err := binding.Decode(input); err != nil || event.ID != cause.ID || event.Type != cause.Type {
		o.world.violate(InputsOnce, "session %s: input %d is not %s", session.id, cause.Sequence, cause.ID)
	}
}

func (o *oracle) grammarHolds(session *sessionHistory, record *schemas.Record) {
	if err := session.grammar.Apply(*record); err != nil {
		o.world.violate(GrammarHolds, "session %s: %v", session.id, err)
	}
}

// requestsEndOnce: every run ended, with a status and a reason, and every message
// has one disposition.
func requestsEndOnce(o *oracle, session *sessionHistory) {
	for _, r := range session.runs {
		if r.ended == nil || r.settled == nil || r.ended.Status == "" || r.ended.Reason == "" {
			o.world.violate(RequestsEndOnce, "run %d of session %s has not ended with a status and a reason", r.number, session.id)
		}
	}
	for id, received := range session.messages {
		if len(received) != 1 {
			o.world.violate(RequestsEndOnce, "session %s: message %s has %d ends", session.id, id, len(received))
		}
	}
}

// startsInOrder: each message that begins a run has the next number, by the order
// of the messages.
func startsInOrder(o *oracle, session *sessionHistory) {
	began := map[int]uint64{}
	for _, received := range session.messages {
		for i := range received {
			if d := received[i].Disposition; d == schemas.DispositionStarted || d == schemas.DispositionQueued {
				began[received[i].Run] = received[i].Sequence
			}
		}
	}
	if len(began) != len(session.runs) {
		o.world.violate(StartsInOrder, "session %s has %d runs for %d messages", session.id, len(session.runs), len(began))
	}
	last := uint64(0)
	for i, r := range session.runs {
		if r.number != i+1 || r.retries == 0 && r.message.Sequence != began[r.number] || r.retries > 0 && r.startedBy != began[r.number] || began[r.number] <= last {
			o.world.violate(StartsInOrder, "session %s: run %d is number %d", session.id, r.number, i+1)
		}
		last = began[r.number]
	}
}

// messagesAreTaken: every message that an adapter was told is stored has been taken
// by its session, or is in quarantine when nobody can use it.
func messagesAreTaken(o *oracle) {
	for i := range o.world.sent {
		sent := &o.world.sent[i]
		if !sent.good {
			if _, dead := o.shards[sent.shard].dead[sent.sequence]; !dead {
				o.world.violate(BadIsQuarantined, "unusable message %s is not in quarantine", sent.id)
			}
			continue
		}
		session := o.sessions[sent.session]
		if session == nil || len(session.messages[sent.id]) != 1 {
			o.world.violate(RequestsEndOnce, "message %s was not taken once", sent.id)
		}
	}
}

// onlyBadIsQuarantined: no message of a person and no answer to the request under
// way is in quarantine.
func onlyBadIsQuarantined(o *oracle) {
	for i := range o.world.sent {
		sent := &o.world.sent[i]
		if _, dead := o.shards[sent.shard].dead[sent.sequence]; dead && sent.good {
			o.world.violate(BadIsQuarantined, "message %s is in quarantine", sent.id)
		}
	}
}

// answersAreTaken: no answer of an agent to a request that it was given is lost,
// not even to an owner that does not know of the request and dies right after. What an
// agent has said once more may be taken before its first words, and stands for them.
func answersAreTaken(o *oracle) {
	for _, s := range o.shards {
		answered, copied := map[string]bool{}, map[string]bool{}
		for sequence, taken := range s.taken {
			if said, err := o.saidAt(s, sequence); err == nil && !taken.IsZero() {
				copied[said.id] = true
			}
		}
		for _, sequence := range slices.Sorted(maps.Keys(s.inputs)) {
			if !strings.Contains(s.inputs[sequence].Subject, ".response.") {
				continue
			}
			_, dead := s.dead[sequence]
			said, err := o.saidAt(s, sequence)
			asked := o.requests[said.request]
			switch {
			case err != nil || asked == nil || asked.agent != said.agent:
			case !s.taken[sequence].IsZero() || dead:
				answered[said.request] = true
			case !answered[said.request] && !copied[said.id]:
				o.world.violate(AnswersAreTaken, "the answer %d of agent %s to %s is lost", sequence, said.agent, said.request)
			}
		}
	}
}

// decidedIsSent compares the requests of the work stream with the facts.
func decidedIsSent(o *oracle) {
	sent := map[string][]byte{}
	for message, err := range o.world.ledger.Scan(context.Background(), bus.WorkStream, 1, "podium.agent.*.request") {
		o.world.must(err)
		event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), message)
		o.world.must(err)
		first, again := sent[event.ID]
		decided := o.requests[event.ID]
		switch {
		case decided == nil:
			o.world.violate(DecidedIsSent, "request %s was sent and never decided", event.ID)
		case decided.dropped:
			o.world.violate(DecidedIsSent, "request %s was sent, though dropped by the record that decided it", event.ID)
		case again && !bytes.Equal(first, event.Data):
			o.world.violate(DecidedIsSent, "request %s was sent again with other words", event.ID)
		case !again:
			o.requestIsProper(decided, &event)
		}
		sent[event.ID] = event.Data
	}
	for request, decided := range o.requests {
		if sent[request] == nil && !decided.dropped {
			o.world.violate(DecidedIsSent, "request %s, attempt %d of %s/%s, was decided at %d and never sent",
				request, decided.number, decided.task.run.id(), decided.task.id, decided.at.sequence)
		}
	}
}

// requestIsProper: a request names its attempt and its effect and carries the results that it builds on.
func (o *oracle) requestIsProper(decided *attempt, event *schemas.Event) {
	request, err := schemas.DecodeExecutionRequest(event.Data)
	if err != nil || len(request.Payload.Tasks) != 1 {
		o.world.violate(RequestsAreProper, "request %s: %v", event.ID, err)
		return
	}
	task := &request.Payload.Tasks[0]
	run := schemas.RunID(decided.task.run.session.id, decided.task.run.number)
	fits := task.TaskID == decided.task.id && task.AssignedTo == decided.agent && request.To == decided.agent &&
		event.Attempt == decided.number && event.EffectID == decided.task.effect() && event.Expires.Equal(decided.fact.Expires)
	for _, id := range decided.inputs {
		_, told := task.Context.Inputs[id]
		fits = fits && told
	}
	if !fits {
		o.world.violate(RequestsAreProper, "request %s: %s of %s for attempt %d with %v of %v", event.ID, task.TaskID, run, event.Attempt, slices.Sorted(maps.Keys(task.Context.Inputs)), decided.inputs)
	}
}

// upstreamIsAnswered: the end of a run that another supervisor or a planner has
// asked for is told to them.
func upstreamIsAnswered(o *oracle) {
	answers := o.upstreamAnswers()
	for _, session := range o.order {
		for _, r := range session.runs {
			upstream := r.message.Upstream
			if upstream == nil || r.ended == nil {
				continue
			}
			given := answers[upstream.Request]
			if r.ended.Reason == schemas.StopSuperseded {
				if len(given) > 0 {
					o.world.violate(UpstreamIsAnswered, "request %s was answered, though another attempt took its place", upstream.Request)
				}
				continue
			}
			o.answeredOnce(r, given)
		}
	}
}

func (o *oracle) answeredOnce(r *run, given []schemas.Event) {
	upstream := r.message.Upstream
	if len(given) == 0 {
		o.world.violate(UpstreamIsAnswered, "request %s was never answered", upstream.Request)
		return
	}
	for i := range given {
		if !bytes.Equal(given[i].Data, given[0].Data) || given[i].ID != given[0].ID {
			o.world.violate(UpstreamIsAnswered, "request %s was answered in two ways", upstream.Request)
		}
	}
	response, err := schemas.DecodeExecutionResponse(given[0].Data)
	if err != nil || response.Payload.ExecutionSummary == nil || (response.Payload.Status == schemas.StatusCompleted) != (r.ended.Status == schemas.RunCompleted) {
		o.world.violate(UpstreamIsAnswered, "the answer to request %s is not what became of it: %v", upstream.Request, err)
	}
}

// upstreamAnswers gathers what supervisors have answered, by request.
func (o *oracle) upstreamAnswers() map[string][]schemas.Event {
	answers := map[string][]schemas.Event{}
	streams := []string{bus.WorkStream}
	for shard := range o.world.configuration.shards {
		streams = append(streams, bus.ShardStream(shard))
	}
	for _, stream := range streams {
		for message, err := range o.world.ledger.Scan(context.Background(), stream, 1,
			"podium.agent."+front+".response", "podium.agent."+tower+".response.*") {
			o.world.must(err)
			event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), message)
			o.world.must(err)
			var envelope schemas.Envelope
			o.world.must(schemas.Unmarshal(event.Data, &envelope))
			answers[envelope.InReplyTo] = append(answers[envelope.InReplyTo], event)
		}
	}
	return answers
}

// decidedAgain lets the machine itself decide every transition once more, and without an input after each.
func decidedAgain(o *oracle) {
	for shard := range o.world.configuration.shards {
		verification, err := verify.ShardAtRest(context.Background(), o.world.ledger, o.world.configurations[0], shard)
		o.world.must(err)
		for _, fault := range verification.Faults {
			o.world.violate(DecidedAgain, "%+v", fault)
		}
	}
}

// A saying is whose word an input is, and what it is about.
type saying struct {
	id             string // of the message: that of its copies
	agent, request string
	status         schemas.ResponseStatus
	open           bool      // it says that nobody knows what has become of an effect
	until          time.Time // it gives no sign of life until then
	tokens         *int      // that it has used, as it says
}

func (o *oracle) saidAt(s *shardHistory, sequence uint64) (saying, error) {
	if said, known := s.said[sequence]; known {
		return said, nil
	}
	said, err := o.sayingOf(s, sequence)
	if err == nil {
		s.said[sequence] = said
	}
	return said, err
}

func (o *oracle) sayingOf(s *shardHistory, sequence uint64) (saying, error) {
	message, known := s.inputs[sequence]
	if !known {
		return saying{}, bus.ErrNotFound
	}
	event, err := artifact.DecodeWhole(context.Background(), o.world.ledger.Artifacts(), message)
	if err != nil {
		return saying{}, err
	}
	var said struct {
		schemas.Envelope
		Payload struct {
			Status schemas.ResponseStatus `json:"status"`
			Issues []schemas.Issue        `json:"issues_encountered"`
			Until  time.Time              `json:"waiting_until"`
			Used   *schemas.ResourceUsage `json:"resource_usage"`
		} `json:"payload"`
	}
	err = schemas.Unmarshal(event.Data, &said)
	open := slices.ContainsFunc(said.Payload.Issues, func(issue schemas.Issue) bool { return issue.EffectUnknown })
	made := saying{said.MessageID, strings.Split(message.Subject, ".")[2], said.InReplyTo, said.Payload.Status, open, said.Payload.Until, nil}
	if said.Payload.Used != nil {
		made.tokens = said.Payload.Used.TokensUsed
	}
	return made, err
}

// RunsAreFound is about who shows a run and does not read the others.
const RunsAreFound = "each run and message is found among the others, and is what all records together say"

// alwaysFound is how many records that speak of runs which are not under way are read
// to show a run.
const alwaysFound = 16

// runsAreFound opens a session as it stands at the end.
func runsAreFound(o *oracle, session *sessionHistory) {
	opened, err := history.OpenSession(context.Background(), o.world.ledger, session.id)
	if err != nil {
		o.world.violate(RunsAreFound, "session %s: %v", session.id, err)
		return
	}
	for i := range session.grammar.Runs {
		want := &session.grammar.Runs[i]
		excerpt := workflow.Excerpt{Session: session.id, Number: want.Number}
		for record, err := range opened.Run(context.Background(), want.Number) {
			if err = errors.Join(err, excerpt.Apply(&record.Record)); err != nil {
				o.world.violate(RunsAreFound, "run %d of session %s: %v", want.Number, session.id, err)
				break
			}
		}
		have := excerpt.Run()
		if have != nil && session.asides > alwaysFound {
			have, want = withoutAsides(have), withoutAsides(want)
		}
		if !reflect.DeepEqual(have, want) {
			o.world.violate(RunsAreFound, "run %d of session %s is shown as %+v, and is %+v", want.Number, session.id, have, want)
		}
	}
	for _, want := range session.grammar.Messages {
		have, err := opened.Received(context.Background(), want.Sequence, want.ID)
		again, errAgain := opened.ReceivedBefore(context.Background(), want.ID)
		if err != nil || errAgain != nil || have.Run != want.Run || have.Disposition != want.Disposition || !reflect.DeepEqual(have, again) {
			o.world.violate(RunsAreFound, "message %s of session %s is %+v (%v), by its id %+v (%v), want %+v", want.ID, session.id, have, err, again, errAgain, want)
		}
	}
}

// withoutAsides returns a run without what may be said once the next one has begun.
func withoutAsides(run *workflow.RunHistory) *workflow.RunHistory {
	known := *run
	known.Late, known.PermitsRefused, known.Bounces, known.Delivery = 0, nil, nil, nil
	known.Tasks, known.DecisionTasks = withoutCalls(known.Tasks), withoutCalls(known.DecisionTasks)
	return &known
}

// withoutCalls returns tasks without what their agents have asked permits for.
func withoutCalls(tasks []*workflow.Task) []*workflow.Task {
	known := make([]*workflow.Task, len(tasks))
	for i, task := range tasks {
		asked := *task
		asked.Asked = nil
		if until := task.WaitingUntil(); until != nil {
			asked.Asked = &workflow.Asked{WaitingUntil: until}
		}
		known[i] = &asked
	}
	return known
}
