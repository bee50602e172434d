package plan

import (
	"cmp"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// fail ends an attempt, classifies the failure and does something about it
// (M-44…M-46): another attempt, another agent, without the task, or telling
// whoever asked.
func (t *Decision) fail(task *workflow.Task, cause schemas.FailureKind, detail string) {
	t.failWith(task, schemas.TaskFailed{Cause: cause, Detail: detail})
}

func (t *Decision) failWith(task *workflow.Task, failed schemas.TaskFailed) {
	failed.Run, failed.Task, failed.Attempt = t.Run.Number, task.ID, task.Attempt
	failed.Category = cmp.Or(failed.Category, category(failed.Cause))
	t.remedy(task, &failed)
	t.Emit(&failed)
	switch {
	case !failed.RetryAt.IsZero():
	case failed.Agent != "":
		t.start(t.Run.Task(task.ID))
	case task.ID == schemas.DeliveryTask:
		t.end(schemas.StopReplyFailed, "")
	case task.Kind == schemas.KindPlan:
		t.unplanned()
	case task.Kind != "":
		t.heard(About(task))
	case failed.Action != schemas.RecoverySkip && t.Profile.Execution.OnFailure == schemas.FailureAborts:
		t.abort()
	default:
		t.advance()
	}
}

func category(cause schemas.FailureKind) schemas.FailureCategory {
	switch cause {
	case schemas.FailureBlocked:
		return schemas.CategoryDependency
	case schemas.FailureArguments, schemas.FailureMalformed:
		return schemas.CategoryValidation
	case schemas.FailureNoRoute, schemas.FailureUnknownEffect:
		return schemas.CategoryCoordination
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent,
		schemas.FailureInvalidResult, schemas.FailureCrashed, schemas.FailureUnavailable:
	}
	return schemas.CategoryExecution
}

// remedy chooses what is done about a failure.
func (t *Decision) remedy(task *workflow.Task, failed *schemas.TaskFailed) {
	policy := t.policy(task)
	asked, refused := task.Attempt-task.AttemptsBefore, int(task.Refused)
	switch {
	case !task.State.UnderWay():
		refused++ // it could not be asked
	case task.TurnedAway(failed):
		asked, refused = asked-1, refused+1
	}
	spent := asked + refused
	if task.ID == schemas.DeliveryTask {
		spent = asked // it waits for as long as nobody may ask, so that no answer is lost
	}
	done := failed.Cause == schemas.FailureInvalidResult && task.Permit != "" // an effect is not repeated for a better result
	if retryable(failed.Cause) && !done && spent < policy.Attempts {
		failed.Action = again(failed.Cause)
		failed.RetryAt = t.Now.Add(wait(policy, max(asked+refused, 1)))
		return
	}
	if next := t.fallback(task); next != "" && !done && failed.Cause != schemas.FailureUnknownEffect {
		failed.Action, failed.Agent = schemas.RecoveryFallback, next
		return
	}
	failed.Action = t.giveUp(task, failed.Cause)
}

// policy is how often something is tried; a question is asked once, because the
// decision that needs it has a default.
func (t *Decision) policy(task *workflow.Task) schemas.Retry {
	switch {
	case task.ID == schemas.DeliveryTask:
		return t.Profile.Delivery
	case task.Kind == schemas.KindAssess || task.Kind == schemas.KindRoute:
		return schemas.Retry{Attempts: 1}
	}
	return t.Profile.Retry
}

func retryable(cause schemas.FailureKind) bool {
	switch cause {
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureNoRoute, schemas.FailureUnknownEffect:
		return false
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult,
		schemas.FailureCrashed, schemas.FailureUnavailable, schemas.FailureMalformed:
	}
	return true
}

// again names the kind of retry (M-45).
func again(cause schemas.FailureKind) schemas.Recovery {
	switch cause {
	case schemas.FailureTimeout:
		return schemas.RecoveryRetryLonger
	case schemas.FailureInvalidResult:
		return schemas.RecoveryRetryClarified
	case schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureNoRoute, schemas.FailureCrashed,
		schemas.FailureUnavailable, schemas.FailureBlocked, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed:
	}
	return schemas.RecoveryRetry
}

// fallback is who may be asked instead of an agent whose attempts are used up:
// one time, for work (P-16).
func (t *Decision) fallback(task *workflow.Task) string {
	use := t.Profile.use(task.Agent)
	if use == nil || task.Kind != "" || task.ID == schemas.DeliveryTask || task.PreviousAgent != "" {
		return ""
	}
	return use.Fallback
}

// giveUp names what a failure for good leads to.
func (t *Decision) giveUp(task *workflow.Task, cause schemas.FailureKind) schemas.Recovery {
	switch {
	case task.Optional():
		return schemas.RecoverySkip
	case cause == schemas.FailureBlocked:
		return schemas.RecoveryEscalateToPlanner
	}
	return schemas.RecoveryEscalateToCoordinator
}

// abort ends the run because one task failed.
func (t *Decision) abort() {
	t.cancelTasks()
	t.settle()
}

// wait is 2^(attempt-1) times the policy's wait (M-25), at most MaxRetryWait.
func wait(policy schemas.Retry, attempt int) time.Duration {
	pause := policy.Wait
	for i := 1; i < attempt && pause < schemas.MaxRetryWait; i++ {
		pause *= 2
	}
	return time.Duration(min(pause, schemas.MaxRetryWait))
}
