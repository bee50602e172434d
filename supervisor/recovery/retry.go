package recovery

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Retry is what a run has to do that is begun in the place of one that has ended, and what it brings of that.
type Retry struct {
	Tasks   []schemas.PlannedTask // all of them, in the order of the plan; those that are brought have the agents that did them
	Brought []string              // tasks whose results are brought, in that order
	Again   []string              // the others: what has failed, what is named, and what builds on either
	// Effects are those of Again of which something may have happened outside: done again, it happens twice.
	Effects []string
}

// Fault is why a run is not retried, in one of the words of schemas.RetryUnknownTask and those beside it; empty is that it is.
func (r *Retry) Fault(allowDuplicate bool) string {
	switch {
	case len(r.Tasks) > 0 && len(r.Again) == 0:
		return schemas.RetryNothing
	case len(r.Effects) > 0 && !allowDuplicate:
		return schemas.RetryEffects
	}
	return ""
}

// RetryOf returns what a run has to do that retries one which has ended, from a task on; empty is from what has not been completed. It reports false
// when there is no such task. What mends something after a review is for the next review to say.
func RetryOf(run *workflow.Run, from string) (Retry, bool) {
	var made Retry
	stays := func(task *workflow.Task) bool { return !task.Replaced && task.Plan.Options().Fixes == "" }
	if named := run.Task(from); from != "" && (named == nil || named.Plan == nil || !stays(named)) {
		return made, false
	}
	again := map[string]bool{}
	for grows := true; grows; {
		grows = false
		for _, task := range run.Tasks {
			builds := func(id string) bool { return again[id] }
			if stays(task) && !again[task.ID] && (task.ID == from || task.State != workflow.TaskCompleted || slices.ContainsFunc(task.Plan.Dependencies, builds)) {
				again[task.ID], grows = true, true
			}
		}
	}
	gone := func(id string) bool { task := run.Task(id); return task == nil || task.Plan == nil || !stays(task) }
	for _, task := range run.Tasks {
		if !stays(task) {
			continue
		}
		planned := *task.Plan
		planned.Dependencies = slices.DeleteFunc(slices.Clone(planned.Dependencies), gone)
		if again[task.ID] {
			made.Again = append(made.Again, task.ID)
			if task.Permit != "" {
				made.Effects = append(made.Effects, task.ID)
			}
		} else {
			made.Brought = append(made.Brought, task.ID)
			planned.Agent, planned.Routed = task.Agent, true
		}
		made.Tasks = append(made.Tasks, planned)
	}
	return made, true
}

// Brings is the fact that a run has the result of a task of one before it: what has mended that because of a failure is what stands there.
func Brings(number int, former *workflow.Run, id string) *schemas.TaskCompleted {
	task := former.Standing(id)
	return &schemas.TaskCompleted{
		Run: number, Task: id, Brought: former.Number, Result: task.Result, Sequence: task.Answered, Deliverables: task.Deliverables, Proven: task.Proven,
		Unproven: task.Unproven, Partial: task.Partial, Findings: task.Findings, Permit: task.Permit,
	}
}
