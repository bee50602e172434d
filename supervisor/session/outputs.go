package session

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/plan"
)

// Supervisor is the name that requests come from.
const Supervisor = "supervisor"

// An Output is a message that a record owes.
type Output struct {
	Agent string
	// Cancel, when set, is the id of a request that nobody waits for any more;
	// else Event is an execution_request.
	Cancel string
	Event  schemas.Event
}

// Outputs returns what a record owes the world, given the state after it. It is
// a pure function: the same record gives the same messages, byte for byte,
// whoever computes them and how often.
func Outputs(env Env, state State, record *schemas.Record) ([]Output, error) {
	var outputs []Output
	for i := range record.Facts {
		switch f := &record.Facts[i]; {
		case f.TaskDispatched != nil:
			request, err := env.request(&state, record, f.TaskDispatched)
			if err != nil {
				return nil, err
			}
			outputs = append(outputs, Output{Agent: f.TaskDispatched.Agent, Event: request})
		case f.TaskCancelled != nil && f.TaskCancelled.Attempt > 0:
			outputs = env.cancel(outputs, &state, f.TaskCancelled.Run, f.TaskCancelled.Task, f.TaskCancelled.Attempt)
		case f.TaskFailed != nil && f.TaskFailed.Cause == schemas.FailureTimeout:
			outputs = env.cancel(outputs, &state, f.TaskFailed.Run, f.TaskFailed.Task, f.TaskFailed.Attempt)
		}
	}
	return outputs, nil
}

func (env *Env) cancel(outputs []Output, state *State, run int, id string, attempt int) []Output {
	if state.Active == nil || state.Active.Number != run {
		return outputs
	}
	task := state.Active.Task(id)
	if task == nil {
		return outputs
	}
	request := schemas.RequestID(env.Shard, schemas.RunID(state.Session, run), id, attempt)
	return append(outputs, Output{Agent: task.Agent, Cancel: request})
}

func (env *Env) request(state *State, record *schemas.Record, f *schemas.TaskDispatched) (schemas.Event, error) {
	run := state.Active
	id := schemas.RunID(state.Session, f.Run)
	task, err := env.task(run, f)
	if err != nil {
		return schemas.Event{}, err
	}
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: f.Request, From: Supervisor, To: f.Agent,
			Type: schemas.ExecutionRequestType, Timestamp: record.Cause.Time,
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
		Subject: id + "/" + f.Task, Time: record.Cause.Time, DataContentType: schemas.MediaTypeJSON,
		PartitionKey: state.Session, CorrelationID: id, CausationID: record.Cause.ID,
		Attempt: f.Attempt, EffectID: f.Effect, Expires: f.Expires, Data: body,
	}, nil
}

func (env *Env) task(run *plan.Run, f *schemas.TaskDispatched) (schemas.Task, error) {
	constraints, err := schemas.Marshal(struct {
		Language string `json:"language"`
	}{run.Message.Language})
	if err != nil {
		return schemas.Task{}, err
	}
	task := schemas.Task{
		TaskID: f.Task, AssignedTo: f.Agent, Priority: schemas.PriorityMedium,
		Context: schemas.TaskContext{Constraints: jsontext.Value(constraints)},
	}
	if f.Task == plan.DeliveryTask {
		task.Description = "Deliver the answer."
		task.Context.Arguments, err = env.delivery(run)
		return task, err
	}
	planned := run.Task(f.Task)
	task.Description = env.text(planned.Description)
	task.Dependencies = planned.Dependencies
	task.Context.Request = env.text(run.Message.Words)
	for _, id := range planned.Dependencies {
		if task.Context.Inputs == nil {
			task.Context.Inputs = map[string]schemas.Result{}
		}
		task.Context.Inputs[id] = env.content(run.Task(id).Result)
	}
	return task, nil
}

// maxAnswer bounds the words of an answer, in bytes.
const maxAnswer = 1 << 20

func (env *Env) delivery(run *plan.Run) (jsontext.Value, error) {
	parts := make([]string, len(run.Answer))
	for i := range run.Answer {
		parts[i] = env.text(run.Answer[i].Body)
	}
	text := cut(schemas.AnswerText(parts, run.Error, run.Message.Language), maxAnswer)
	if strings.TrimSpace(text) == "" {
		text = env.Pinned.TextsIn(run.Message.Language).Empty
	}
	arguments, err := schemas.Marshal(schemas.DeliveryArguments{Reply: run.Message.Reply, Text: text})
	return jsontext.Value(arguments), err
}
