package workflow

import (
	"cmp"

	"podium/schemas"
	"podium/schemas/fault"
)

// Recovers returns the failed task that has found what the task mends; empty when it mends nothing, or what a review has found.
func (t *Task) Recovers() string {
	if t.Plan == nil || t.Plan.TaskOptions == nil {
		return ""
	}
	return t.Plan.TaskOptions.Recovers
}

// Origin is the task of the plan whose work this one does because of a failure, or itself.
func (t *Task) Origin() string {
	if t.Recovers() == "" {
		return t.ID
	}
	return t.Plan.TaskOptions.Fixes
}

// OriginOf is the task of the plan whose work another one does: whoever mends that is told what that was told.
func (r *Run) OriginOf(task *Task) string {
	if task.Plan == nil {
		return task.Origin()
	}
	return cmp.Or(task.Plan.Options().Fixes, task.ID)
}

// SaidAbout reports whether what people have answered about a task is told whoever does another one: who mends it is told what that task was told, and also what they and others have asked who have mended it.
func (r *Run) SaidAbout(id string, asked *Task) bool {
	origin := r.OriginOf(asked)
	if id == origin {
		return true
	}
	about := r.Task(id)
	return about != nil && r.OriginOf(about) == origin && !fault.Is("who mends is not told what they have asked")
}

// Mending reports whether the task is blocked until what it has found is mended.
func (t *Task) Mending() bool {
	return t.State == TaskBlocked && t.Failure().Recovering == schemas.WayFix
}

// Standing returns the task by which the work of another one stands: what has mended it last because of a failure, or else itself; nil when there is none of that id.
func (r *Run) Standing(id string) *Task {
	standing := r.Task(id)
	if r.Changes == 0 {
		return standing
	}
	for _, task := range r.Tasks {
		if task.State == TaskCompleted && task.Recovers() != "" && task.Origin() == id {
			standing = task
		}
	}
	return standing
}

// Mendings returns how often it was planned to mend what a task has found, and the tasks by which it was the last time.
func (r *Run) Mendings(id string) (rounds int, last []*Task) {
	change := 0
	for _, task := range r.Tasks {
		if task.Recovers() != id {
			continue
		}
		if task.Change != change {
			rounds, last, change = rounds+1, nil, task.Change
		}
		last = append(last, task)
	}
	return rounds, last
}
