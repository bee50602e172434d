package plan

import (
	"strings"

	"podium/schemas"
)

// settle fixes the outcome when no task is left: completed when every task is,
// partial when some are, failed when none is (M-56).
func (t *Turn) settle() {
	completed := 0
	var failed *Task
	for i := range t.Run.Tasks {
		task := &t.Run.Tasks[i]
		if task.State == TaskCompleted {
			completed++
		} else if failed == nil && task.State == TaskFailed {
			failed = task
		}
	}
	switch {
	case failed == nil:
		t.conclude(schemas.RunCompleted, schemas.StopCompleted, nil)
	case completed > 0:
		t.conclude(schemas.RunPartial, stopReason(failed.Failure), t.failure(failed, true))
	default:
		t.conclude(schemas.RunFailed, stopReason(failed.Failure), t.failure(failed, false))
	}
}

func (t *Turn) conclude(status schemas.RunStatus, reason schemas.StopReason, failure *schemas.Error) {
	settled := schemas.RunSettled{Run: t.Run.Number, Status: status, Reason: reason, Error: failure}
	for i := range t.Run.Tasks {
		if task := &t.Run.Tasks[i]; task.State == TaskCompleted {
			settled.Answer = append(settled.Answer, schemas.AnswerPart{Task: task.ID, Body: task.Result})
		}
	}
	t.Emit(schemas.Fact{RunSettled: &settled})
	if t.Run.Message.Reply.Agent == "" {
		t.end(reason, "")
		return
	}
	t.dispatch(DeliveryTask, t.Run.Message.Reply.Agent, 1)
}

func (t *Turn) end(reason schemas.StopReason, delivered string) {
	t.Emit(schemas.Fact{RunEnded: &schemas.RunEnded{
		Run: t.Run.Number, Status: t.Run.Status, Reason: reason, Replied: delivered,
	}})
}

func stopReason(kind schemas.FailureKind) schemas.StopReason {
	switch kind {
	case schemas.FailureTimeout, schemas.FailureNotStarted:
		return schemas.StopTimeout
	case schemas.FailureNoRoute:
		return schemas.StopNoRoute
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult:
	}
	return schemas.StopTaskFailed
}

// failure tells a failure in the requester's language (G-28).
func (t *Turn) failure(task *Task, partial bool) *schemas.Error {
	texts := t.texts()
	failure := schemas.Error{
		ErrorType:       schemas.ErrorToolFailure,
		SuggestedAction: schemas.ActionEscalate,
		InternalDetails: "task " + task.ID + " of agent " + task.Agent + ": " + string(task.Failure),
	}
	sentence := texts.TaskFailed
	switch task.Failure {
	case schemas.FailureTimeout, schemas.FailureNotStarted:
		sentence, failure.SuggestedAction = texts.Timeout, schemas.ActionRetry
	case schemas.FailureNoRoute:
		sentence, failure.ErrorType = texts.NoRoute, schemas.ErrorValidation
		failure.InternalDetails = "task " + task.ID + ": no router decided"
	case schemas.FailureAgent, schemas.FailurePermanent, schemas.FailureInvalidResult:
	}
	sentence = strings.NewReplacer("{detail}", task.Detail, "{task}", task.ID, "{agent}", task.Agent).Replace(sentence)
	if partial {
		sentence += "\n\n" + texts.Partial
	}
	failure.Message = map[string]string{t.Run.Message.Language: strings.TrimSpace(sentence)}
	return &failure
}

func (t *Turn) cancelled() *schemas.Error {
	return &schemas.Error{
		ErrorType: schemas.ErrorSystem, SuggestedAction: schemas.ActionManualIntervention,
		InternalDetails: "cancelled by a person",
		Message:         map[string]string{t.Run.Message.Language: t.texts().Cancelled},
	}
}

func (t *Turn) texts() *schemas.Texts { return t.Profile.TextsIn(t.Run.Message.Language) }
