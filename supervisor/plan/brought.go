package plan

import (
	"maps"

	"podium/schemas"
)

// Brought returns the results that came along with a request to a supervisor and
// that a task builds on; nil when there are none. A plan brings them for each task. One
// piece of work in words says the texts in these words, so that only what has data is
// brought, for the tasks that build on nothing else.
func Brought(run *Run, task *Task, read func(schemas.Body) schemas.Result) map[string]schemas.Result {
	upstream := run.Message.Upstream
	if upstream == nil || !upstream.Brings || task.Plan == nil || !upstream.Planned && len(task.dependencies()) > 0 {
		return nil
	}
	tasks := tasksOf(read(schemas.Body{Sequence: run.Message.Sequence}))
	if !upstream.Planned {
		if len(tasks) != 1 {
			return nil
		}
		return withData(tasks[0].Context.Inputs)
	}
	for i := range tasks {
		if tasks[i].TaskID == task.ID {
			return tasks[i].Context.Inputs
		}
	}
	return nil
}

// Brings reports whether there is anything that Brought would return.
func Brings(tasks []schemas.Task, planned bool) bool {
	for i := range tasks {
		inputs := tasks[i].Context.Inputs
		if !planned {
			inputs = withData(inputs)
		}
		if len(inputs) > 0 {
			return true
		}
	}
	return false
}

func withData(inputs map[string]schemas.Result) map[string]schemas.Result {
	found := maps.Clone(inputs)
	maps.DeleteFunc(found, func(_ string, input schemas.Result) bool { return len(input.Data) == 0 })
	return found
}
