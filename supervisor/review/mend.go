package review

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// Blamed are the tasks that a failure is about, in the order of the plan: what an agent has looked at, of which it says that it is not right, or the task itself when its own
// result cannot be used. There are none when nothing was made. Said are the findings of whoever has failed; those that name files leave out who has not made them.
func Blamed(run *workflow.Run, failed *workflow.Task, cause schemas.FailureKind, said []schemas.ReviewIssue) []*workflow.Task {
	switch {
	case cause == schemas.FailureInvalidResult, cause == schemas.FailureMalformed:
		return []*workflow.Task{failed}
	case cause != schemas.FailureVerdict:
		return nil
	case len(failed.Dependencies()) == 0:
		return []*workflow.Task{failed}
	}
	var made []*workflow.Task
	for _, id := range failed.Dependencies() {
		if task := run.Task(id); task != nil {
			if newest := Newest(run, Root(task)); newest != nil && !slices.Contains(made, newest) {
				made = append(made, newest)
			}
		}
	}
	issues := slices.Clone(said)
	Assign(run, Files(run), issues)
	named := func(task *workflow.Task) bool {
		return slices.ContainsFunc(issues, func(issue schemas.ReviewIssue) bool { return issue.File != "" && issue.Task == Root(task) })
	}
	if slices.ContainsFunc(made, named) {
		made = slices.DeleteFunc(made, func(task *workflow.Task) bool { return !named(task) })
	}
	return made
}

// Mends are the tasks that mend what a failed one has found, one for each of those that are blamed for it, by whoever has done that. Change is the number of the change of the plan that adds them. What mends a
// result builds on it, and on what is being done about it already.
func Mends(run *workflow.Run, failed *workflow.Task, blamed []*workflow.Task, change int) []schemas.PlannedTask {
	names := map[string]string{}
	for i, name := range MendNames(blamed) {
		names[Root(blamed[i])] = schemas.ChangeTask(change, name)
	}
	mends := make([]schemas.PlannedTask, len(blamed))
	for i, task := range blamed {
		if task.ID == failed.ID {
			mends[i] = again(failed)
		} else {
			mends[i] = fix(run, run.Task(Root(task)), names, nil, nil)
		}
		mend := &mends[i]
		mend.Task, mend.TaskOptions.Recovers = names[Root(task)], failed.ID
		for _, other := range run.Tasks {
			if IsFix(other) && Root(other) == Root(task) && !other.State.Ended() {
				mend.Dependencies = append(mend.Dependencies, other.ID)
			}
		}
	}
	return mends
}

// MendNames are the names that the tasks which mend others have in a change of the plan.
func MendNames(blamed []*workflow.Task) []string {
	names := make([]string, len(blamed))
	for i, task := range blamed {
		names[i] = "fix." + Root(task)
	}
	return names
}

// again is a task that does once more what one has not done right.
func again(failed *workflow.Task) schemas.PlannedTask {
	does := *failed.Plan
	options := does.Options()
	options.Fixes, options.Arguments = failed.ID, failed.Arguments()
	does.Agent, does.Routed, does.TaskOptions = failed.Agent, true, &options
	return does
}
