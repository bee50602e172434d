package plan

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A RequestInputs is what came along with the request that a run was begun by. It reads the
// request once, however many tasks of the run are told about it; its zero value has read
// nothing yet.
type RequestInputs struct {
	sequence uint64 // of the request
	tasks    []schemas.Task
	places   map[string]int // of the tasks
}

// For returns the results that came along with a request to a supervisor and
// that a task builds on; nil when there are none. A plan brings them for each task. One
// piece of work in words says the texts in these words, so that only the data is
// brought, for the tasks that build on nothing else. Of a plan that was refused, the
// task in its place gets all of them.
func (r *RequestInputs) For(run *workflow.Run, task *workflow.Task, read func(schemas.Content) schemas.Result) map[string]schemas.TaskInput {
	upstream := run.Message.Upstream
	if upstream == nil || !upstream.HasInputs || task.Plan == nil || !upstream.Planned && len(task.Dependencies()) > 0 {
		return nil
	}
	planned := upstream.Planned && run.Source == schemas.PlannerExternal
	if planned && !task.Plan.HasInputs {
		return nil
	}
	r.load(run.Message.Sequence, read)
	if planned {
		if place, found := r.places[run.OriginOf(task)]; found {
			return r.tasks[place].Context.Inputs
		}
		return nil
	}
	return mergeInputs(r.tasks, upstream.Planned)
}

// Answers returns what people have answered about a request to a supervisor, as whoever is upstream has asked
// them: that is told about each task that is a part of it.
func (r *RequestInputs) Answers(run *workflow.Run, task *workflow.Task, read func(schemas.Content) schemas.Result) []schemas.InquiryAnswer {
	upstream := run.Message.Upstream
	if upstream == nil || !upstream.HasAnswers || task.Plan == nil {
		return nil
	}
	r.load(run.Message.Sequence, read)
	planned := upstream.Planned && run.Source == schemas.PlannerExternal
	var told []schemas.InquiryAnswer
	for i := range r.tasks {
		if !planned || r.tasks[i].TaskID == run.OriginOf(task) {
			told = append(told, r.tasks[i].Context.Answers...)
		}
	}
	return told
}

// HasAnswers reports whether there is anything that Answers would return.
func HasAnswers(tasks []schemas.Task) bool {
	return slices.ContainsFunc(tasks, func(task schemas.Task) bool { return len(task.Context.Answers) > 0 })
}

// load reads the request, unless that has been done; what is not at hand is asked for again.
func (r *RequestInputs) load(sequence uint64, read func(schemas.Content) schemas.Result) {
	if r.places != nil && r.sequence == sequence {
		return
	}
	tasks := tasksOf(read(schemas.Content{Sequence: sequence}))
	if tasks == nil {
		return
	}
	*r = RequestInputs{sequence: sequence, tasks: tasks, places: make(map[string]int, len(tasks))}
	for i := range tasks {
		r.places[tasks[i].TaskID] = i
	}
}

// HasInputs reports whether there is anything that For would return.
func HasInputs(tasks []schemas.Task, planned bool) bool { return len(mergeInputs(tasks, planned)) > 0 }

// mergeInputs are the inputs of all tasks, of two with the same name the first; without
// texts only their data.
func mergeInputs(tasks []schemas.Task, texts bool) map[string]schemas.TaskInput {
	var all map[string]schemas.TaskInput
	for i := range tasks {
		for _, name := range slices.Sorted(maps.Keys(tasks[i].Context.Inputs)) {
			input := tasks[i].Context.Inputs[name]
			if !texts {
				input.Text = ""
			}
			if _, there := all[name]; there || !texts && len(input.Data) == 0 {
				continue
			}
			if all == nil {
				all = map[string]schemas.TaskInput{}
			}
			all[name] = input
		}
	}
	return all
}

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
func requestOptions(v *View, content schemas.Result) *schemas.TaskOptions {
	upstream := v.Run.Message.Upstream
	if upstream == nil || !upstream.HasArguments {
		return nil
	}
	if len(content.Data) == 0 {
		content = v.Read(schemas.Content{Sequence: v.Run.Message.Sequence})
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
