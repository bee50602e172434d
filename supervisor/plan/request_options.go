package plan

import (
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// OptionsOf returns what the one task of a request to a supervisor says besides words;
// nil when there is nothing. It holds for the tasks that the supervisor makes of the
// words itself, so that passing work on through a tier loses nothing of it.
//
// Resources are not among it: whoever asks holds them meanwhile.
func OptionsOf(task *schemas.Task) *schemas.TaskOptions {
	given := schemas.TaskOptions{
		Arguments: task.Context.Arguments, Deliverables: nilIfEmpty(task.Deliverables), ValidationCriteria: nilIfEmpty(task.ValidationCriteria),
		FilesToModify: nilIfEmpty(task.Context.FilesToModify), References: nilIfEmpty(task.Context.References),
	}
	if bindingConstraints(task.Context.Constraints) {
		given.Constraints = task.Context.Constraints
	}
	return nilIfNoOptions(given)
}

// bindingConstraints reports whether constraints say more than the language, which the run has.
func bindingConstraints(constraints jsontext.Value) bool {
	if len(constraints) == 0 {
		return false
	}
	var said map[string]jsontext.Value
	if schemas.Unmarshal(constraints, &said) != nil {
		return false
	}
	delete(said, "language")
	return len(said) > 0
}

// requestOptions are what came with the words of the run, from its message's content or, when
// that is not at hand, from the input.
func (d *Decision) requestOptions(content schemas.Result) *schemas.TaskOptions {
	upstream := d.Run.Message.Upstream
	if upstream == nil || !upstream.HasArguments {
		return nil
	}
	if len(content.Data) == 0 {
		content = d.Read(schemas.Content{Sequence: d.Run.Message.Sequence})
	}
	task := RequestedTask(content)
	if task == nil {
		return nil
	}
	return OptionsOf(task)
}

// RequestedTask returns the one task of a request from its content; nil when it is not there yet.
func RequestedTask(content schemas.Result) *schemas.Task {
	tasks := tasksOf(content)
	if len(tasks) != 1 {
		return nil
	}
	return &tasks[0]
}

func tasksOf(content schemas.Result) []schemas.Task {
	var brought struct {
		Tasks []schemas.Task `json:"tasks"`
	}
	if schemas.Unmarshal(content.Data, &brought) != nil {
		return nil
	}
	return brought.Tasks
}
