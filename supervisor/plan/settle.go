package plan

import (
	"cmp"
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

// settle fixes the outcome when no task is left: completed when every task is
// that the run cannot do without, blocked when one waits for whoever asked,
// partial when some are, failed when none is (M-56).
func (t *Decision) settle() {
	completed, failed := t.completedAny(), t.decisive()
	switch {
	case failed == nil:
		t.conclude(schemas.RunCompleted, t.completionReason(), nil)
	case failed.Failure().Cause == schemas.FailureBlocked:
		t.conclude(schemas.RunBlocked, schemas.StopBlocked, t.failure(failed, completed))
	case completed:
		t.conclude(schemas.RunPartial, stopReason(failed.Failure().Cause), t.failure(failed, true))
	default:
		t.conclude(schemas.RunFailed, stopReason(failed.Failure().Cause), t.failure(failed, false))
	}
}

func (t *Decision) completedAny() bool {
	return slices.ContainsFunc(t.Run.Tasks, func(task *workflow.Task) bool { return task.State == workflow.TaskCompleted })
}

// decisive returns the failed task that the outcome is told by: the first one
// that is blocked, else the first. One that was skipped counts only when nothing
// at all was done.
func (t *Decision) decisive() *workflow.Task {
	var failed, skipped *workflow.Task
	for i := range t.Run.Tasks {
		task := t.Run.Tasks[i]
		switch {
		case task.State == workflow.TaskFailed && (failed == nil || failed.Failure().Cause != schemas.FailureBlocked && task.Failure().Cause == schemas.FailureBlocked):
			failed = task
		case task.State == workflow.TaskSkipped && task.Failure().Cause != "" && skipped == nil:
			skipped = task
		}
	}
	if failed == nil && !t.completedAny() {
		return skipped
	}
	return failed
}

// completionReason tells apart who has answered (O-13).
func (t *Decision) completionReason() schemas.StopReason {
	direct := len(t.Run.Tasks) > 0
	for i := range t.Run.Tasks {
		switch t.Run.Tasks[i].Agent {
		case schemas.RouteFinish:
			return schemas.StopFinished
		case schemas.RouteRespond:
		default:
			direct = false
		}
	}
	if direct {
		return schemas.StopDirectAnswer
	}
	return schemas.StopCompleted
}

func (t *Decision) conclude(status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) {
	settled := schemas.RunSettled{Run: t.Run.Number, Status: status, Reason: reason, Error: failure}
	for i := range t.Run.Tasks {
		if task := t.Run.Tasks[i]; task.State == workflow.TaskCompleted && t.tells(task) {
			settled.Answer = append(settled.Answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
		}
	}
	t.Emit(&settled)
	agent := t.Run.Message.ReplyAgent()
	if agent != "" && t.Withheld != nil {
		t.Emit(t.Withheld)
		agent = ""
	}
	if agent == "" {
		t.end(reason, "")
		return
	}
	t.Deliver()
}

// tells reports whether a task's result is part of the answer: in a graph it is
// not when another result builds on it.
func (t *Decision) tells(task *workflow.Task) bool {
	if t.Profile.Execution.Mode != schemas.ExecutionDAG {
		return true
	}
	return !slices.ContainsFunc(t.Run.Tasks, func(other *workflow.Task) bool {
		return other.State == workflow.TaskCompleted && slices.Contains(other.Dependencies(), task.ID)
	})
}

func (t *Decision) end(reason schemas.StopReason, delivered string) {
	t.Emit(&schemas.RunEnded{
		Run: t.Run.Number, Status: t.Run.Status, Reason: reason, Replied: delivered,
	})
}

func stopReason(kind schemas.FailureKind) schemas.StopReason {
	switch kind {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		return schemas.StopTimeout
	case schemas.FailureNoRoute:
		return schemas.StopNoRoute
	case schemas.FailureUnavailable:
		return schemas.StopUnavailable
	case schemas.FailureBlocked:
		return schemas.StopBlocked
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult, schemas.FailureArguments, schemas.FailureUnknownEffect, schemas.FailureMalformed:
	}
	return schemas.StopTaskFailed
}

// failure tells a failure in the requester's language (G-28).
func (t *Decision) failure(task *workflow.Task, partial bool) *schemas.Error {
	texts := t.texts()
	failure := schemas.Error{
		ErrorType:       schemas.ErrorToolFailure,
		SuggestedAction: schemas.ActionEscalate,
		InternalDetails: "task " + task.ID + " of agent " + task.Agent + ": " + string(task.Failure().Cause),
	}
	sentence := texts.TaskFailed
	switch task.Failure().Cause {
	case schemas.FailureUnavailable: // it was refused at once
		sentence, failure.SuggestedAction = cmp.Or(texts.Unavailable, texts.Timeout), schemas.ActionRetry
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureCrashed:
		sentence, failure.SuggestedAction = texts.Timeout, schemas.ActionRetry
	case schemas.FailureNoRoute:
		sentence, failure.ErrorType = texts.NoRoute, schemas.ErrorValidation
		failure.InternalDetails = "task " + task.ID + ": no router decided"
	case schemas.FailureArguments:
		failure.ErrorType = schemas.ErrorValidation
	case schemas.FailureUnknownEffect:
		sentence, failure.SuggestedAction = cmp.Or(texts.UnknownEffect, texts.TaskFailed), schemas.ActionManualIntervention
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult, schemas.FailureBlocked, schemas.FailureMalformed:
	}
	detail := task.Failure().Detail
	if task.Failure().Cause == schemas.FailureArguments || task.Failure().Cause == schemas.FailureInvalidResult || task.Failure().Cause == schemas.FailureMalformed {
		failure.InternalDetails += ": " + detail
		detail = "" // it speaks of schemas, and not to a person
	}
	sentence = strings.TrimSpace(strings.NewReplacer("{detail}", detail, "{task}", task.ID, "{agent}", task.Agent).Replace(sentence))
	if partial {
		sentence += "\n\n" + texts.Partial
	}
	failure.Message = t.told(sentence)
	return &failure
}

func (t *Decision) told(sentence string) map[string]string {
	return map[string]string{t.Run.Message.Language: strings.TrimSpace(sentence)}
}

func (t *Decision) cancelled() *schemas.Error {
	return &schemas.Error{
		ErrorType: schemas.ErrorSystem, SuggestedAction: schemas.ActionManualIntervention,
		InternalDetails: "cancelled by a person", Message: t.told(t.texts().Cancelled),
	}
}

func (t *Decision) expired(partial bool) *schemas.Error {
	sentence := t.texts().Timeout
	if partial {
		sentence += "\n\n" + t.texts().Partial
	}
	return &schemas.Error{
		ErrorType: schemas.ErrorSystem, SuggestedAction: schemas.ActionRetry,
		InternalDetails: "the run's deadline has passed", Message: t.told(sentence),
	}
}

func (t *Decision) planFailure() *schemas.Error {
	return &schemas.Error{
		ErrorType: schemas.ErrorValidation, SuggestedAction: schemas.ActionManualIntervention,
		InternalDetails: "there is no plan that can be carried out",
		Message:         t.told(strings.NewReplacer("{detail}", "", "{task}", planTask, "{agent}", "").Replace(t.texts().TaskFailed)),
	}
}

func (t *Decision) texts() *schemas.Texts { return t.Profile.TextsIn(t.Run.Message.Language) }
