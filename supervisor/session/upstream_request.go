package session

import (
	"maps"
	"slices"
	"strings"

	"podium/schemas"
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
