package workflow

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
)

// A Teller has the sentences for reasons.
type Teller interface {
	Failure(failed *schemas.TaskFailed) string
	Issue(issue *schemas.ReviewIssue) string
}

// TaskPlan returns the plan of the run as it stands. Its statuses are the four that a task plan knows: a step that was skipped or
// cancelled counts as failed (O-22), and so does one that is done and not right when the run has ended by its review.
func (h *RunHistory) TaskPlan(tell Teller) schemas.TaskPlan {
	plan := schemas.TaskPlan{Created: h.Planned, Question: h.Message.Text.Text, Tasks: make([]schemas.TaskStep, len(h.Tasks))}
	if plan.Created.IsZero() {
		plan.Created = h.Started
	}
	for i, task := range h.Tasks {
		step := schemas.TaskStep{
			StepNumber: i + 1, Agent: task.Agent, Description: task.Description(), Status: task.State.step(),
			TaskID: task.ID, Dependencies: slices.Clone(task.Dependencies()), State: string(task.State), Reason: whyNot(h, task, tell),
		}
		if found := notRight(h, task, tell); found != "" {
			step.Status, step.Reason = schemas.StepFailed, found
		}
		plan.Tasks[i] = step
	}
	return plan
}

func (s TaskState) step() schemas.StepStatus {
	switch s {
	case TaskDispatched, TaskRunning:
		return schemas.StepInProgress
	case TaskCompleted:
		return schemas.StepCompleted
	case TaskFailed, TaskSkipped, TaskCancelled:
		return schemas.StepFailed
	case TaskPending, TaskReady, TaskDue, TaskWaiting, TaskWaitingInput, TaskWaitingApproval, TaskBlocked:
	}
	return schemas.StepPending
}

// whyNot is why a task was skipped, has failed, or is blocked; empty is no reason.
func whyNot(h *RunHistory, task *Task, tell Teller) string {
	failure := task.Failure()
	told := string(failure.Cause)
	if said := tell.Failure(&failure); said != "" {
		told += ": " + said
	}
	switch task.State {
	case TaskFailed, TaskBlocked:
		return told
	case TaskSkipped:
		return whySkipped(h, task, told)
	case TaskPending, TaskReady, TaskDue, TaskDispatched, TaskRunning, TaskWaiting, TaskWaitingInput, TaskWaitingApproval, TaskCompleted, TaskCancelled:
	}
	return ""
}

func whySkipped(h *RunHistory, task *Task, failure string) string {
	switch task.Message {
	case schemas.SkippedReplanned:
		return "another plan has taken its place"
	case schemas.SkippedForgone:
		return "the run goes on without it: " + failure
	case schemas.SkippedStepLimit:
		return "the run has taken as many steps as it may"
	}
	var missing []string
	for _, id := range task.Dependencies() {
		if before := h.Task(id); before != nil && before.State.Ended() && before.State != TaskCompleted {
			missing = append(missing, id+" ("+string(before.State)+")")
		}
	}
	if len(missing) > 0 {
		return "it builds on " + strings.Join(missing, ", ")
	}
	return cmp.Or(failure, task.Message)
}

// notRight is what a review has found wrong with what a task has made, when nothing more is done about that; empty is nothing. Of a task that
// others have mended the newest of these has it.
func notRight(h *RunHistory, task *Task, tell Teller) string {
	if h.Reason != schemas.StopReviewFailed || h.Review == nil || task.State != TaskCompleted || task.Replaced {
		return ""
	}
	newest := true
	for _, later := range h.Tasks[slices.Index(h.Tasks, task)+1:] {
		newest = newest && (mends(later) != mends(task) || later.State != TaskCompleted)
	}
	var found []string
	for i := range h.Review.Issues {
		issue := &h.Review.Issues[i]
		if newest && issue.Severity == schemas.ValidationError && blames(h, issue, task) {
			found = append(found, tell.Issue(issue))
		}
	}
	return strings.Join(found, "; ")
}

// blames reports whether something that was found is in what a task has made. What nobody is responsible for is in the newest work on the file.
func blames(h *RunHistory, issue *schemas.ReviewIssue, task *Task) bool {
	switch {
	case len(issue.Tasks) > 0:
		return slices.Contains(issue.Tasks, task.ID)
	case issue.Task != "":
		return issue.Task == mends(task)
	}
	makes := func(other *Task) bool {
		return slices.ContainsFunc(other.Deliverables, func(made schemas.Deliverable) bool { return made.Path == issue.File })
	}
	return issue.File != "" && makes(task) && !slices.ContainsFunc(h.Tasks, func(other *Task) bool {
		return other.State == TaskCompleted && slices.Contains(other.Dependencies(), task.ID) && makes(other)
	})
}

// mends is the task of the plan whose work a task does anew, or else itself.
func mends(task *Task) string {
	if task.Plan == nil {
		return task.ID
	}
	return cmp.Or(task.Plan.Options().Fixes, task.ID)
}
