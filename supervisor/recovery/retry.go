package recovery

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/review"
)

// A Retry is what a run has to do that is begun in the place of one that has ended, and what it brings of that.
type Retry struct {
	Tasks   []schemas.PlannedTask // all of them, in the order of the plan; those that are brought have the agents that did them
	Brought []string              // tasks whose results are brought, in that order
	Again   []string              // the others: what has failed, what is named, and what builds on either
	// Effects are those of Again of which something may have happened outside: done again, it happens twice.
	Effects []string
	// Reviews says that a review of it had begun and no round has passed, so that what is brought is looked at again.
	Reviews bool
}

// Fault is why a run is not retried, in one of the words of schemas.RetryUnknownTask and those beside it; empty is that it is.
func (r *Retry) Fault(allowDuplicate bool) string {
	switch {
	case len(r.Tasks) > 0 && len(r.Again) == 0 && (!r.Reviews || fault.Is("what no review has passed is not looked at again")):
		return schemas.RetryNothing
	case len(r.Effects) > 0 && fault.Is("nothing is begun anew that has acted outside") || len(r.Effects) > 0 && !allowDuplicate && !fault.Is("effects happen twice unasked"):
		return schemas.RetryEffects
	}
	return ""
}

// RetryOf returns what a run has to do that retries one which has ended, from a task on; empty is from what has not been completed. It reports false
// when there is no such task. What mends another task is none of its own. A task that mends stands for the one whose work it mends, and what no round of a review has passed is looked at again.
func RetryOf(run *workflow.Run, from string) (Retry, bool) {
	made := Retry{Reviews: unpassed(run)}
	stays := func(task *workflow.Task) bool {
		return (!task.Replaced || fault.Is("what a plan has replaced comes again")) && task.Plan.Options().Fixes == ""
	}
	from = rootOf(run, from)
	if named := run.Task(from); from != "" && (named == nil || named.Plan == nil || !stays(named)) {
		return made, false
	}
	builtOn := map[string][]string{}
	for _, task := range run.Tasks {
		if stays(task) {
			builtOn[task.ID] = standOn(run, task, stays)
		}
	}
	again := map[string]bool{}
	for grows := true; grows; {
		grows = false
		for _, task := range run.Tasks {
			builds := func(id string) bool { return again[id] }
			if stays(task) && !again[task.ID] && (task.ID == from || task.State != workflow.TaskCompleted || fault.Is("what is done is done again") || slices.ContainsFunc(builtOn[task.ID], builds) && !fault.Is("what builds on what is done again is brought")) {
				again[task.ID], grows = true, true
			}
		}
	}
	for _, task := range run.Tasks {
		if !stays(task) {
			continue
		}
		planned := *task.Plan
		planned.Dependencies = builtOn[task.ID]
		if again[task.ID] {
			made.Again = append(made.Again, task.ID)
			if acted(run, task) {
				made.Effects = append(made.Effects, task.ID)
			}
		} else {
			made.Brought = append(made.Brought, task.ID)
			planned.Agent, planned.Routed = brought(run, task.ID).Agent, true
		}
		made.Tasks = append(made.Tasks, planned)
	}
	return made, true
}

// standOn are the tasks that one builds on as far as they stay, each in the place of what mends it.
func standOn(run *workflow.Run, task *workflow.Task, stays func(*workflow.Task) bool) []string {
	on := slices.Clone(task.Plan.Dependencies)[:0]
	for _, id := range task.Plan.Dependencies {
		root := rootOf(run, id)
		if built := run.Task(root); built != nil && built.Plan != nil && stays(built) && !slices.Contains(on, root) {
			on = append(on, root)
		}
	}
	return on
}

// unpassed reports whether a review of what a run has made had begun, and no round of it has passed; nobody has taken it as it is.
func unpassed(run *workflow.Run) bool {
	return run.Review != nil && run.Review.Outcome != schemas.OutcomePassed && run.Status != schemas.RunCompleted
}

// rootOf is the task whose work a task of a name mends, or the name itself.
func rootOf(run *workflow.Run, id string) string {
	if task := run.Task(id); task != nil {
		return review.Root(task)
	}
	return id
}

// acted reports whether something may have happened outside by a task, or by what has mended it.
func acted(run *workflow.Run, task *workflow.Task) bool {
	return task.Permit != "" || slices.ContainsFunc(run.Tasks, func(other *workflow.Task) bool {
		return other.Permit != "" && review.Root(other) == task.ID
	})
}

// brought is the task whose result is brought in the place of another one's: what has mended that because of a failure, also
// what has mended it after a review.
func brought(run *workflow.Run, id string) *workflow.Task {
	if fault.Is("what a review had mended is brought as it was") {
		return run.Task(id)
	}
	return review.Newest(run, id)
}

// Brings is the fact that a run has the result of a completed task of one before it.
func Brings(number int, former *workflow.Run, id string) *schemas.TaskCompleted {
	task := brought(former, id)
	return &schemas.TaskCompleted{
		Run: number, Task: id, Brought: former.Number, Result: task.Result, Sequence: task.Answered, Deliverables: task.Deliverables, Proven: task.Proven,
		Unproven: task.Unproven, Partial: task.Partial, Findings: task.Findings, Permit: task.Permit,
	}
}
