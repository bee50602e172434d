package workflow

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
)

// Resendable says why the answer of a run is not sent again, in one of the words of
// schemas.ResendNotEnded and those beside it; empty when it would be.
func (h *RunHistory) Resendable(allowDuplicate bool) string {
	switch {
	case h.Phase != PhaseComplete:
		return schemas.ResendNotEnded
	case h.ResendRequested:
		return schemas.ResendWaits
	case slices.ContainsFunc(h.Bounces, cameBack):
		return schemas.ResendReturned
	case h.Delivery == nil && h.Withheld == nil:
		return schemas.ResendNoAnswer
	case h.AnswerHeld() && !fault.Is("an answer that was rejected is sent when somebody asks for it"):
		return schemas.ResendUnagreed
	case h.Delivery != nil && h.Delivery.State == TaskCompleted && !fault.Is("what was delivered is sent again"):
		return schemas.ResendAnswered
	case h.Delivery != nil && h.Delivery.Permit != "" && !allowDuplicate:
		return schemas.ResendUncertain
	}
	return ""
}

// GiveUpObjection says why the answer of the run cannot be given up, in one of the words of schemas.GiveUpNotSettled and
// those below it; empty when it can. An attempt that has no permit is stopped by that.
func (r *Run) GiveUpObjection() string {
	switch {
	case r.Phase == PhaseComplete:
		return schemas.GiveUpEnded
	case !r.Settled() || r.Delivery == nil:
		return schemas.GiveUpNotSettled
	case r.Delivery.State.Ended():
		return schemas.GiveUpEnded
	case r.Delivery.State.UnderWay() && r.Delivery.Permit != "":
		return schemas.GiveUpPermitted
	}
	return ""
}

// Reopening returns the fact that takes a run which has ended back to where it was settled,
// to the delivery of its answer.
func (h *RunHistory) Reopening(allowDuplicate bool) schemas.DeliveryReopened {
	f := schemas.DeliveryReopened{
		Run: h.Number, Profile: h.Profile, ProfileHash: h.ProfileHash, Message: h.Message,
		Status: h.outcome.Status, Reason: h.outcome.Reason, Answer: h.Answer, Error: h.Error, Notes: h.Notes, Summary: h.Summary, Agent: h.Message.ReplyAgent(), AllowDuplicate: allowDuplicate,
	}
	for i := range h.Answer {
		task, told := h.Task(h.Answer[i].Task), h.Answer[i].Told != ""
		if task == nil || len(task.Deliverables) == 0 && len(task.Proven) == 0 && !told {
			continue
		}
		made := schemas.MadeByTask{Task: task.ID, Deliverables: task.Deliverables, Proven: task.Proven}
		if told {
			made.Agent = task.Agent
		}
		f.Made = append(f.Made, made)
	}
	if h.Delivery != nil {
		f.Attempt, f.Request = h.Delivery.Attempt, h.Delivery.Request
	}
	return f
}

// cameBack reports whether a report is about the answer, and says that it has not arrived.
func cameBack(report schemas.DeliveryBounced) bool {
	return report.Failed && report.Inquiry == 0
}
