package session

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// Outputs returns what follows from the last transition of a record, given the
// state after it. It is a pure function: the same record gives the same messages,
// byte for byte, whoever computes them and how often.
func Outputs(env Env, state State, record *schemas.Transition) ([]Output, error) {
	var outputs []Output
	for i := range record.Facts {
		switch f := record.Facts[i].(type) {
		case *schemas.TaskDispatched:
			if !stillAwaited(&state, f) {
				continue // taken back in the same breath
			}
			request, err := env.request(&state, record, f)
			if err != nil {
				return nil, err
			}
			outputs = append(outputs, Output{Kind: OutputRequest, Agent: f.Agent, Event: request, External: env.external(&state, f), Streamed: env.streamed(&state, f)})
		case *schemas.TaskCancelled:
			if f.Attempt > 0 && !cancelledBeforeSent(record, f) {
				outputs = appendCancelHint(outputs, &state, f.Run, f.Task, f.Attempt)
			}
		case *schemas.TaskFailed:
			if f.Attempt > 0 && (mayStillWork(f.Cause) || settledByEarlier(&state, record, f.Run, f.Task, f.Attempt)) {
				outputs = appendCancelHint(outputs, &state, f.Run, f.Task, f.Attempt)
			}
		case *schemas.TaskCompleted:
			if settledByEarlier(&state, record, f.Run, f.Task, f.Attempt) {
				outputs = appendCancelHint(outputs, &state, f.Run, f.Task, f.Attempt)
			}
		default:
			outputs = appendPermitAnswer(outputs, &state, f)
		}
	}
	answers, err := Responses(env, &state, record)
	return append(outputs, answers...), err
}

// Responses returns the responses that follow from the last transition of a record, for
// whoever asked for the runs that it ends.
func Responses(env Env, state *State, record *schemas.Transition) ([]Output, error) {
	var outputs []Output
	for _, run := range state.Ended {
		if run.Reason == schemas.StopExpired && fault.Is("nobody is told that a run has expired") {
			continue
		}
		if run.Message.Upstream == nil || run.Reason == schemas.StopSuperseded {
			continue // nobody waits for it
		}
		response, err := env.response(run, record.Cause.Time)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, response)
	}
	return outputs, nil
}

// cancelledBeforeSent reports whether the attempt that is cancelled was decided by the same
// record, so that its agent has not been asked.
func cancelledBeforeSent(record *schemas.Transition, f *schemas.TaskCancelled) bool {
	return slices.ContainsFunc(record.Facts, func(other schemas.Fact) bool {
		d, is := other.(*schemas.TaskDispatched)
		return is && d.Run == f.Run && d.Task == f.Task && d.Attempt == f.Attempt
	})
}

// stillAwaited reports whether the answer to a request is waited for after its record.
func stillAwaited(state *State, f *schemas.TaskDispatched) bool {
	if state.Active == nil || state.Active.Number != f.Run {
		return false
	}
	task := state.Active.Task(f.Task)
	return task != nil && task.Request == f.Request && task.State.UnderWay()
}

// external reports whether what a request leads to cannot be taken back: its agent reaches
// peopleOf or systems outside, or its task keeps others from something.
func (env *Env) external(state *State, f *schemas.TaskDispatched) bool {
	if f.Task == schemas.DeliveryTask || env.Pinned.External(f.Agent) {
		return true
	}
	task := state.Active.Task(f.Task)
	return task != nil && (task.NotifiesPeople() || len(task.Resources()) > 0)
}

// streamed reports whether the text of a request's result is shown while it comes.
func (env *Env) streamed(state *State, f *schemas.TaskDispatched) bool {
	task := state.Active.Task(f.Task)
	return task != nil && env.Pinned.Streams(state.Active, task)
}

// mayStillWork reports whether an agent may still work on an attempt that failed.
func mayStillWork(cause schemas.FailureKind) bool {
	switch cause {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		return true
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureInvalidResult,
		schemas.FailureUnavailable, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed, schemas.FailureRejected,
		schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return false
}

func appendCancelHint(outputs []Output, state *State, run int, id string, attempt int) []Output {
	task := taskOf(state, run, id)
	if task == nil {
		return outputs
	}
	return append(outputs, Output{Kind: OutputCancelHint, Agent: task.AgentOf(attempt), Request: requestOf(task, attempt)})
}

// requestOf is the request of an attempt that a record has ended.
func requestOf(task *workflow.Task, attempt int) string {
	if attempt < task.Attempt {
		return task.PreviousRequest // the next one was decided in the same breath
	}
	return task.Request
}

// settledByEarlier reports whether an attempt has ended by the answer to an earlier one, so that its own request
// may still be worked on.
func settledByEarlier(state *State, record *schemas.Transition, run int, id string, attempt int) bool {
	task := taskOf(state, run, id)
	return record.Cause.Settles != "" && attempt > 0 && task != nil && task.Attempt >= attempt && requestOf(task, attempt) != record.Cause.Settles
}

// taskOf finds a task of the run under way, or of one that the record has ended.
func taskOf(state *State, run int, id string) *workflow.Task {
	if state.Active != nil && state.Active.Number == run {
		return state.Active.Task(id)
	}
	for _, ended := range state.Ended {
		if ended.Number == run {
			return ended.Task(id)
		}
	}
	return nil
}

func (env *Env) request(state *State, record *schemas.Transition, f *schemas.TaskDispatched) (schemas.Event, error) {
	id := schemas.RunID(state.Session, f.Run)
	task, err := env.task(state, f)
	if err != nil {
		return schemas.Event{}, err
	}
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: f.Request, From: Supervisor, To: f.Agent,
			Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: record.Cause.Time,
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(id), RequestID: id, Tasks: []schemas.Task{task},
			AgentAssignments: map[string][]string{f.Agent: {f.Task}},
		},
	}
	body, err := schemas.Marshal(request)
	if err != nil {
		return schemas.Event{}, err
	}
	return schemas.Event{
		ID: f.Request, Source: "/podium/" + Supervisor, Type: schemas.TypeExecutionRequest,
		Subject: schemas.TaskSubject(id, f.Task), Time: record.Cause.Time, DataContentType: schemas.MediaTypeJSON,
		PartitionKey: state.Session, CorrelationID: id, CausationID: record.Cause.ID,
		Attempt: f.Attempt, EffectID: f.Effect, Expires: f.Expires, Permit: carriedPermit(f), TraceParent: state.Active.Message.TraceParent, Data: body,
	}, nil
}

// MayHaveOutputs reports whether outputs may follow from a transition. It may say yes where
// none do, and never no where some do: in a record, only the last transition may have any.
// What settles a request may have ended an attempt that has another one.
func MayHaveOutputs(transition *schemas.Transition) bool {
	return transition.Cause.Settles != "" || slices.ContainsFunc(transition.Facts, mayHaveOutputs)
}

func mayHaveOutputs(fact schemas.Fact) bool {
	switch f := fact.(type) {
	case *schemas.TaskFailed:
		return mayStillWork(f.Cause)
	case *schemas.TaskDispatched, *schemas.TaskCancelled, *schemas.PermitGranted, *schemas.PermitRefused,
		*schemas.ReplyWithheld, *schemas.DeliveryBounced, *schemas.RunEnded:
		return true
	case *schemas.MessageReceived, *schemas.RunStarted, *schemas.ComplexityAssessed, *schemas.PlanCreated, *schemas.PlanRefused, *schemas.Judged, *schemas.PlanChanged, *schemas.ReviewBegan,
		*schemas.TaskRouted, *schemas.TaskReady, *schemas.TaskUnserved, *schemas.TaskStarted, *schemas.TaskProgressed, *schemas.TaskHeartbeat,
		*schemas.TaskDelayed, *schemas.TaskCompleted, *schemas.TaskSkipped, *schemas.ResponseLate, *schemas.EntityMismatched,
		*schemas.RunSettled, *schemas.AnswerDelayed, *schemas.ResendRequested, *schemas.DeliveryReopened,
		*schemas.ArgumentsFilled, *schemas.InquiryOpened, *schemas.InquiryAnswered, *schemas.InquiryClosed:
	}
	return false
}

// Supervisor is the name that requests come from.
const Supervisor = "supervisor"

// An Output is one thing that a decision has the shell do. Most are messages, and those of
// a decision that is on record follow from the record: see Outputs. The others are in the
// Outcome.
type Output struct {
	Kind    OutputKind
	Agent   string                // who is asked or told, or as whom the supervisor answers
	Event   schemas.Event         // of a request or a response
	Request string                // of a cancel hint: the id of what nobody waits for any more
	Permit  *schemas.PermitAnswer // of a permit answer
	Refusal *Refusal              // of a quarantine
	Run     int                   // of a repeated response: the run whose answer it is
	Reuse   schemas.Reuse         // of a reusable result
	// External says of a request that its agent acts outside of Podium, or that its task
	// holds what no other task may use meanwhile.
	External bool
	// Streamed says of a request that whoever has written is shown the text of its result while it comes.
	Streamed bool
}

// OutputKind says what an output is.
type OutputKind string

// The kinds of output.
const (
	// OutputRequest is an execution_request. One that brings its permit along may be
	// published so only once: any further copy of it has to go without.
	OutputRequest OutputKind = "request"
	// OutputResponse is an execution_response to whoever asked for the run.
	OutputResponse OutputKind = "response"
	// OutputRepeatedResponse is the response to the request of a run that has ended, once more: whoever asks again has not heard it.
	// Whoever asks for something else under the same id is refused, also while the run goes on.
	OutputRepeatedResponse OutputKind = "repeated_response"
	// OutputCancelHint tells an agent that nobody waits for its answer.
	OutputCancelHint OutputKind = "cancel_hint"
	// OutputPermitAnswer says whether an agent may act outside.
	OutputPermitAnswer OutputKind = "permit_answer"
	// OutputQuarantine puts the input into quarantine.
	OutputQuarantine OutputKind = "quarantine"
	// OutputReusable is an answer that may stand in for others of the same input (M-29).
	OutputReusable OutputKind = "reusable_result"
)

// Durable reports whether the ledger has to acknowledge the output before its input is
// done. The others are hints: whoever misses one asks again, or is told again.
func (o *Output) Durable() bool {
	switch o.Kind {
	case OutputRequest, OutputResponse, OutputRepeatedResponse, OutputQuarantine:
		return true
	case OutputCancelHint, OutputPermitAnswer, OutputReusable:
	}
	return false
}

// ToldOutside reports whether somebody outside of the ledger goes by the output, so that
// it cannot be taken back. What it follows from has to survive a loss of power by then.
func (o *Output) ToldOutside() bool {
	switch o.Kind {
	case OutputRequest:
		return o.External || o.Event.Permit != ""
	case OutputResponse, OutputRepeatedResponse, OutputCancelHint, OutputPermitAnswer:
		return true
	case OutputQuarantine, OutputReusable:
	}
	return false
}

// A Refusal says why an input belongs in quarantine.
type Refusal struct {
	Reason schemas.QuarantineReason
	Detail string
}

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 1 << 20

// answerText returns the text of a settled run's answer.
func (env *Env) answerText(run *workflow.Run) string {
	words := cut(plan.AnswerText(run, env.Read), maxAnswer)
	if strings.TrimSpace(words) == "" {
		words = env.Pinned.TextsIn(run.Message.Language).Empty
	}
	return words
}

// answerFiles are the data of an answer as files, where its words leave something out.
func (env *Env) answerFiles(run *workflow.Run) []schemas.DataFile {
	var files []schemas.DataFile
	for i := range run.Answer {
		part := &run.Answer[i]
		task := run.Task(part.Task)
		if part.Told == "" || task == nil || len(files) == maxAttached {
			continue
		}
		if told := env.Pinned.Tell(run, task, env.content(part.Body)); told.File != nil {
			files = append(files, *told.File)
		}
	}
	return files
}

// wholeAnswer are the files by which people who are to agree to an answer see what their letter does not show of it.
func (env *Env) wholeAnswer(run *workflow.Run, f *schemas.TaskDispatched) (attached []schemas.Attachment, made []schemas.DataFile) {
	if run.Message.Channel == schemas.ChannelEmail { // files go along by mail alone
		attached, made = env.attachments(run, f), env.answerFiles(run)
	}
	if words := env.answerText(run); len(words) > plan.MaxShown {
		made = append(made, schemas.DataFile{Name: "answer.txt", MediaType: "text/plain; charset=utf-8", Text: words})
	}
	return attached, made
}
