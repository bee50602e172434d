package session

import (
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// readRequest takes an execution_request to a supervisor apart: a plan when it
// has several tasks or assigns one to somebody else, else one piece of work in
// the words of its task.
func readRequest(event *schemas.Event, request *schemas.ExecutionRequest) *Message {
	tasks := request.Payload.Tasks
	planned := len(tasks) != 1 || tasks[0].AssignedTo != request.To
	message := &Message{Channel: schemas.ChannelAgent, Language: languageOf(tasks)}
	upstream := schemas.Upstream{
		Request: request.MessageID, From: request.From, To: request.To, ReplyTo: event.ReplyTo,
		PlanID: request.Payload.PlanID, Planned: planned,
		Subject: event.Subject, Correlation: event.CorrelationID, Partition: event.PartitionKey, Effect: event.EffectID,
		Attempt: event.Attempt, Expires: event.Expires,
		HasInputs: plan.HasInputs(tasks, planned),
	}
	message.Entities = entitiesOf(tasks)
	if planned {
		message.Text = personsRequest(tasks)
		message.Tasks = tasks
	} else {
		upstream.Task = tasks[0].TaskID
		message.Text = taskText(&tasks[0])
		upstream.HasArguments = plan.OptionsOf(&tasks[0]) != nil
		if upstream.HasArguments || upstream.HasInputs {
			message.Tasks = tasks
		}
	}
	message.Upstream = &upstream
	return message
}

func languageOf(tasks []schemas.Task) string {
	for i := range tasks {
		if len(tasks[i].Context.Constraints) == 0 {
			continue
		}
		var constraints struct {
			Language string `json:"language"`
		}
		if schemas.Unmarshal(tasks[i].Context.Constraints, &constraints) == nil && constraints.Language != "" {
			return constraints.Language
		}
	}
	return ""
}

// entitiesOf is what the tasks of a request are about; of two that say different
// things of one name, the first.
func entitiesOf(tasks []schemas.Task) map[string]string {
	said := map[string]string{}
	for i := range slices.Backward(tasks) {
		maps.Copy(said, tasks[i].Context.Entities)
	}
	if len(said) == 0 {
		return nil
	}
	return said
}

// personsRequest is what a person has asked for, as far as the tasks of a plan say it.
func personsRequest(tasks []schemas.Task) string {
	for i := range tasks {
		if tasks[i].Context.Request != "" {
			return tasks[i].Context.Request
		}
	}
	return ""
}

// taskText are what a task asks for: its description, and below it the results
// that it builds on.
func taskText(task *schemas.Task) string {
	var said []string
	if words := strings.TrimSpace(task.Description); words != "" {
		said = append(said, words)
	}
	for _, name := range slices.Sorted(maps.Keys(task.Context.Inputs)) {
		if input := strings.TrimSpace(task.Context.Inputs[name].Text); input != "" {
			said = append(said, input)
		}
	}
	if len(said) == 0 {
		return strings.TrimSpace(task.Context.Request)
	}
	return strings.Join(said, "\n\n")
}

// sameEffect reports whether two requests are attempts of one piece of work.
func sameEffect(a, b *schemas.Upstream) bool {
	return a != nil && b != nil && a.Effect != "" && a.Effect == b.Effect
}

// response is the answer to the request that a run was begun by (M-07…M-12).
func (env *Env) response(run *workflow.Run, now time.Time) (Output, error) {
	upstream := run.Message.Upstream
	payload := schemas.ResponsePayload{
		Status: responseStatus(run.Status), PlanID: upstream.PlanID,
		ExecutionSummary: summary(run), Deliverables: env.deliverables(run),
		ResourceUsage: usage(run, now), IssuesEncountered: issues(run, upstream), Result: env.result(run),
	}
	response := schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID(upstream.Request), From: upstream.To, To: upstream.From,
			Type: schemas.EnvelopeTypeExecutionResponse, Timestamp: now, InReplyTo: upstream.Request,
		},
		Payload: payload,
	}
	body, err := schemas.Marshal(response)
	if len(body) > schemas.MaxBody { // a failure, after which nothing is done again without being asked for
		response.Payload.Status, response.Payload.Result = schemas.StatusFailed, nil
		response.Payload.IssuesEncountered = append(response.Payload.IssuesEncountered, schemas.Issue{
			IssueID: schemas.ResponseID(upstream.Request), TaskID: upstream.Task, Agent: upstream.To, Severity: "high",
			Description: "The result is too large to be handed on.", Resolution: schemas.ResolutionEscalated, EffectUnknown: true,
		})
		body, err = schemas.Marshal(response)
	}
	return Output{Kind: OutputResponse, Agent: upstream.To, Event: replyEvent(&run.Message, &response.Envelope, body)}, err
}

// replyEvent returns the event of a message to whoever asked.
func replyEvent(asked *schemas.Incoming, envelope *schemas.Envelope, body []byte) schemas.Event {
	upstream := asked.Upstream
	return schemas.Event{
		ID: envelope.MessageID, Source: "/podium/" + envelope.From, Type: "podium." + envelope.Type + ".v1",
		Subject: upstream.Subject, Time: envelope.Timestamp, DataContentType: schemas.MediaTypeJSON,
		DataSchema: schemas.SchemaID(envelope.Type), PartitionKey: upstream.Partition, CorrelationID: upstream.Correlation,
		CausationID: upstream.Request, Attempt: upstream.Attempt, EffectID: upstream.Effect,
		ReplyTo: upstream.ReplyTo, TraceParent: asked.TraceParent, Data: body,
	}
}

func responseStatus(status schemas.RunStatus) schemas.ResponseStatus {
	switch status {
	case schemas.RunCompleted:
		return schemas.StatusCompleted
	case schemas.RunPartial:
		return schemas.StatusPartial
	case schemas.RunBlocked:
		return schemas.StatusBlocked
	case schemas.RunFailed, schemas.RunCancelled:
	}
	return schemas.StatusFailed
}

// result assembles what the run was asked for: its text, and the data of the
// answer when it has one part.
func (env *Env) result(run *workflow.Run) *schemas.Result {
	if len(run.Answer) == 0 {
		return nil
	}
	parts := make([]string, len(run.Answer))
	var result schemas.Result
	for i := range run.Answer {
		content := env.content(run.Answer[i].Body)
		parts[i] = content.Text
		if task := run.Task(run.Answer[i].Task); len(run.Answer) == 1 {
			result = content
			if task != nil {
				result.Data = env.proveForUpstream(run, content.Data, task.Proven)
			}
		}
	}
	result.Text = cut(workflow.AnswerText(parts, nil, run.Message.Language), maxAnswer)
	return &result
}
