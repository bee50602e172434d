package plan

import (
	"cmp"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/review"
)

// fail ends an attempt, classifies the failure and does something about it
// (M-44…M-46): another attempt, another agent, without the task, or telling
// whoever asked.
func (d *Decision) fail(task *workflow.Task, cause schemas.FailureKind, detail string) {
	d.failWith(task, schemas.TaskFailed{Cause: cause, Detail: detail})
}

func (d *Decision) failWith(task *workflow.Task, failed schemas.TaskFailed) {
	failed.Run, failed.Task, failed.Attempt = d.Run.Number, task.ID, task.Attempt
	failed.Category, failed.Usage = cmp.Or(failed.Category, category(failed.Cause)), d.takeSpent(task)
	d.chooseRecovery(task, &failed)
	d.Emit(&failed)
	switch {
	case !failed.RetryAt.IsZero():
	case failed.Agent != "":
		d.start(d.Run.Task(task.ID))
	case task.Notice() > 0:
		d.noticeFailed(task, failed.Cause)
	case task.ID == schemas.DeliveryTask:
		d.end(schemas.StopReplyFailed, "")
	case task.Kind == schemas.KindPlan:
		d.withoutPlan()
	case task.Kind == schemas.KindJudge: // the plan holds
		d.advance()
	case task.Kind != "":
		d.questionEnded(task.Kind, QuestionedTask(task))
	case failed.Action != schemas.RecoverySkip && d.Profile.Execution.OnFailure == schemas.FailureAborts && d.Profile.Replan == nil && !review.IsFix(task):
		d.abort()
	default:
		d.advance()
	}
}

func category(cause schemas.FailureKind) schemas.FailureCategory {
	switch cause {
	case schemas.FailureBlocked:
		return schemas.CategoryDependency
	case schemas.FailureArguments, schemas.FailureMalformed, schemas.FailureVerdict:
		return schemas.CategoryValidation
	case schemas.FailureNoRoute, schemas.FailureUnknownEffect, schemas.FailureRejected, schemas.FailureUnapproved, schemas.FailureConflict:
		return schemas.CategoryCoordination
	case schemas.FailureBudget:
		return schemas.CategoryResource
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent,
		schemas.FailureInvalidResult, schemas.FailureCrashed, schemas.FailureUnavailable:
	}
	return schemas.CategoryExecution
}

// chooseRecovery chooses what is done about a failure.
func (d *Decision) chooseRecovery(task *workflow.Task, failed *schemas.TaskFailed) {
	policy := d.policy(task)
	asked, refused := task.Attempt-task.UncountedAttempts-int(task.Inquired), int(task.Rejections)
	switch {
	case !task.State.UnderWay():
		refused++ // it could not be asked
	case task.TurnedAway(failed):
		asked, refused = asked-1, refused+1
	}
	spent := asked + refused
	if task.Tells() {
		spent = asked // it waits for as long as nobody may ask, so that no answer is lost
	}
	if failed.Cause == schemas.FailureInvalidResult && d.worksAsPerson(task) {
		spent = policy.Attempts // they have been asked once more already
	}
	done := failed.Cause == schemas.FailureInvalidResult && task.Permit != "" // an effect is not repeated for a better result
	if retryable(failed.Cause) && !done && spent < policy.Attempts {
		failed.Action = retryKind(failed.Cause)
		failed.RetryAt = d.Now.Add(max(wait(policy, max(asked+refused, 1)), retryAfter(failed)))
		return
	}
	if next := d.fallback(task); next != "" && !done && failed.Cause != schemas.FailureBudget && failed.Cause != schemas.FailureUnknownEffect && failed.Cause != schemas.FailureVerdict &&
		!d.disapproved(task, failed.Cause) {
		failed.Action, failed.Agent = schemas.RecoveryFallback, next
		return
	}
	failed.Action = d.giveUp(task, failed.Cause)
}

// policy is how often something is tried; a question is asked once, because the
// decision that needs it has a default.
func (d *Decision) policy(task *workflow.Task) schemas.Retry {
	switch {
	case task.Tells():
		return d.Profile.Delivery
	case task.Kind == schemas.KindAssess || task.Kind == schemas.KindRoute || task.Kind == schemas.KindExtract:
		return schemas.Retry{Attempts: 1}
	}
	return d.Profile.Retry
}

func retryable(cause schemas.FailureKind) bool {
	switch cause {
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureNoRoute, schemas.FailureUnknownEffect, schemas.FailureRejected,
		schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
		return false
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult,
		schemas.FailureCrashed, schemas.FailureUnavailable, schemas.FailureMalformed:
	}
	return true
}

// retryKind names the kind of retry (M-45).
func retryKind(cause schemas.FailureKind) schemas.Recovery {
	switch cause {
	case schemas.FailureTimeout:
		return schemas.RecoveryRetryLonger
	case schemas.FailureInvalidResult:
		return schemas.RecoveryRetryClarified
	case schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureCrashed,
		schemas.FailureUnavailable, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed, schemas.FailureRejected,
		schemas.FailureUnapproved, schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return schemas.RecoveryRetry
}

// fallback is who may be asked instead of an agent whose attempts are used up:
// one time, for work (P-16).
func (d *Decision) fallback(task *workflow.Task) string {
	use := d.Profile.agentUse(task.Agent)
	if use == nil || task.Kind != "" || task.ID == schemas.DeliveryTask || task.PreviousAgent != "" {
		return ""
	}
	return use.Fallback
}

// giveUp names what a failure for good leads to.
func (d *Decision) giveUp(task *workflow.Task, cause schemas.FailureKind) schemas.Recovery {
	switch {
	case task.Optional():
		return schemas.RecoverySkip
	case cause == schemas.FailureBlocked || cause == schemas.FailureConflict || task.Plan != nil && d.changes():
		return schemas.RecoveryEscalateToPlanner
	}
	return schemas.RecoveryEscalateToCoordinator
}

// abort ends the run because one task failed.
func (d *Decision) abort() {
	d.cancelTasks(schemas.InquiryWithdrawn)
	d.settle()
}

// retryAfter is how long the agent says that another attempt had better wait, at most MaxRetryWait.
func retryAfter(failed *schemas.TaskFailed) time.Duration {
	seconds := 0
	if failed.Findings != nil {
		for i := range failed.Findings.Issues {
			seconds = max(seconds, failed.Findings.Issues[i].RetryAfterSeconds)
		}
	}
	const most = time.Duration(schemas.MaxRetryWait) / time.Second
	return min(time.Duration(seconds), most) * time.Second
}

// wait is 2^(attempt-1) times the policy's wait (M-25), at most MaxRetryWait.
func wait(policy schemas.Retry, attempt int) time.Duration {
	pause := policy.Wait
	for i := 1; i < attempt && pause < schemas.MaxRetryWait; i++ {
		pause *= 2
	}
	return time.Duration(min(pause, schemas.MaxRetryWait))
}
