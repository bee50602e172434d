package plan

import (
	"slices"
	"time"

	"podium/schemas"
)

// An Answer is what an agent said to the current attempt of a task.
type Answer struct {
	Status    schemas.ResponseStatus
	Result    schemas.Body
	Delivered string // mail's Message-ID or chat's reply id, from a delivery
	Detail    string // what went wrong, as the agent says
	Permanent bool   // the agent says that no attempt can help
}

// Answer takes an agent's answer to the current attempt of a task.
func (t *Turn) Answer(task *Task, answer Answer) {
	switch answer.Status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		t.Emit(schemas.Fact{TaskCompleted: &schemas.TaskCompleted{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt, Result: answer.Result,
		}})
		if task.ID == DeliveryTask {
			t.end(t.Run.Reason, answer.Delivered)
			return
		}
		t.advance()
	case schemas.StatusFailed, schemas.StatusBlocked:
		cause := schemas.FailureAgent
		if answer.Permanent {
			cause = schemas.FailurePermanent
		}
		t.fail(task, cause, answer.Detail)
	}
}

// Progress takes an agent's sign of life. The first one says that work began.
func (t *Turn) Progress(task *Task, percentage int, message string) {
	if task.State == TaskDispatched {
		t.Emit(schemas.Fact{TaskStarted: &schemas.TaskStarted{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Deadline: t.Now.Add(t.Profile.workDeadline(task.Agent)),
		}})
	}
	if percentage > task.Percentage || message != "" && message != task.Note {
		t.Emit(schemas.Fact{TaskProgressed: &schemas.TaskProgressed{
			Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			Percentage: max(percentage, task.Percentage), Message: message,
		}})
	}
}

// Expire takes a deadline that has passed. It reports false, and does nothing,
// when the run does not wait for exactly this any more.
func (t *Turn) Expire(deadline schemas.Deadline) bool {
	pending := slices.ContainsFunc(t.Run.Deadlines(), func(d schemas.Deadline) bool {
		return d.Run == deadline.Run && d.Task == deadline.Task && d.Attempt == deadline.Attempt &&
			d.Kind == deadline.Kind && !d.At.After(t.Now)
	})
	if !pending {
		return false
	}
	task := t.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineQueue:
		t.fail(task, schemas.FailureNotStarted, "")
	case schemas.DeadlineWork:
		t.fail(task, schemas.FailureTimeout, "")
	case schemas.DeadlineRetry:
		t.dispatch(task.ID, task.Agent, task.Attempt+1)
	}
	return true
}

// Cancel stops the run for a person. It reports false when the outcome is
// already fixed.
func (t *Turn) Cancel() bool {
	if t.Run.Phase == PhaseAssembling || t.Run.Phase == PhaseComplete {
		return false
	}
	for i := range t.Run.Tasks {
		if task := &t.Run.Tasks[i]; !task.State.Ended() {
			t.Emit(schemas.Fact{TaskCancelled: &schemas.TaskCancelled{
				Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt,
			}})
		}
	}
	t.conclude(schemas.RunCancelled, schemas.StopCancelled, t.cancelled())
	return true
}

func (t *Turn) fail(task *Task, cause schemas.FailureKind, detail string) {
	policy := t.Profile.Retry
	if task.ID == DeliveryTask {
		policy = t.Profile.Delivery
	}
	failed := schemas.TaskFailed{Run: t.Run.Number, Task: task.ID, Attempt: task.Attempt, Cause: cause, Detail: detail}
	if cause != schemas.FailurePermanent && task.Attempt < policy.Attempts {
		failed.RetryAt = t.Now.Add(wait(policy, task.Attempt))
	}
	t.Emit(schemas.Fact{TaskFailed: &failed})
	switch {
	case !failed.RetryAt.IsZero():
	case task.ID == DeliveryTask:
		t.end(schemas.StopReplyFailed, "")
	default:
		t.advance()
	}
}

// wait is 2^(attempt-1) times the policy's wait (M-25), at most MaxRetryWait.
func wait(policy schemas.Retry, attempt int) time.Duration {
	pause := policy.Wait
	for i := 1; i < attempt && pause < schemas.MaxRetryWait; i++ {
		pause *= 2
	}
	return time.Duration(min(pause, schemas.MaxRetryWait))
}
