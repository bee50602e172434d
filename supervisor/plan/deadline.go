package plan

import (
	"slices"

	"podium/schemas"
)

// Expire takes a deadline that has passed. It reports false, and does nothing,
// when the run does not wait for exactly this any more.
func (d *Decision) Expire(deadline schemas.Deadline) bool {
	pending := slices.ContainsFunc(d.Run.Deadlines(), func(other schemas.Deadline) bool {
		return other.Run == deadline.Run && other.Task == deadline.Task && other.Attempt == deadline.Attempt &&
			other.Kind == deadline.Kind && !other.At.After(d.Now)
	})
	if !pending {
		return false
	}
	switch deadline.Kind {
	case schemas.DeadlineRun:
		d.expire()
		return true
	case schemas.DeadlineRemind:
		d.remind(deadline.Task)
		return true
	case schemas.DeadlineInquiry:
		d.Unanswered(d.Run.Inquiry(schemas.NoticeOf(deadline.Task)), schemas.InquiryExpired)
		return true
	case schemas.DeadlineQueue, schemas.DeadlineWork, schemas.DeadlineRetry, schemas.DeadlineSlow, schemas.DeadlineSilence:
	}
	task := d.Run.Task(deadline.Task)
	switch deadline.Kind {
	case schemas.DeadlineQueue:
		d.fail(task, schemas.FailureNotStarted, "")
	case schemas.DeadlineWork:
		d.fail(task, schemas.FailureTimeout, "")
	case schemas.DeadlineSilence:
		d.fail(task, schemas.FailureCrashed, "")
	case schemas.DeadlineSlow:
		d.Emit(&schemas.TaskDelayed{
			Run: d.Run.Number, Task: task.ID, Attempt: task.Attempt, Seconds: task.Plan.Seconds,
		})
	case schemas.DeadlineRetry:
		d.start(task)
	case schemas.DeadlineRun, schemas.DeadlineRemind, schemas.DeadlineInquiry:
	}
	return true
}
