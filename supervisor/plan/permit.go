package plan

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
)

// Permit decides whether the agent that works on an attempt of a task may act
// outside. An agent that is asked a question may not, whatever profile the run is pinned to.
// An effect is permitted once, over all attempts, unless the agent has said that the attempt
// which was permitted failed. If it has not said anything, nobody knows whether the effect
// has happened, and the profile decides: it is permitted again, or it is not, and then the
// task fails. An earlier run for the same request of somebody upstream counts as an attempt.
//
// Known says that the session has answered this question before. Whoever asks
// again has not heard the answer, so that it is told what holds now, and nothing
// of it goes on record.
func (d *Decision) Permit(task *workflow.Task, attempt int, agent, permit string, known bool) schemas.PermitAnswer {
	known = known || task.Permit == permit
	reason := d.permitObjection(task, attempt, permit, known)
	switch {
	case reason == "" && !known:
		d.Progress(task, Sign{Percentage: task.Percentage}) // whoever asks has begun
		d.Emit(&schemas.PermitGranted{
			Run: d.Run.Number, Task: task.ID, Attempt: attempt, Permit: permit, Again: task.Permit != "",
		})
	case reason != "" && !known:
		d.Emit(&schemas.PermitRefused{
			Run: d.Run.Number, Task: task.ID, Attempt: attempt, Permit: permit, Reason: reason, Agent: agent,
		})
		if reason == schemas.PermitUnknown && task.State.UnderWay() {
			d.fail(task, schemas.FailureUnknownEffect, "")
		}
	}
	return schemas.PermitAnswer{Permit: permit, Granted: reason == "", Reason: reason}
}

// permitObjection is why an agent may not act; empty is nothing.
func (d *Decision) permitObjection(task *workflow.Task, attempt int, permit string, known bool) schemas.PermitReason {
	switch {
	case !task.Kind.IsWork():
		return schemas.PermitQuestion
	case task.State == workflow.TaskCancelled:
		return schemas.PermitCancelled
	case task.State == workflow.TaskFailed && task.Failure().Cause == schemas.FailureUnknownEffect && attempt == task.Attempt:
		return schemas.PermitUnknown
	case attempt != task.Attempt || !task.State.UnderWay() || !d.Now.Before(task.Expires):
		return schemas.PermitStale
	case task.Permit == permit:
		return ""
	case d.worksElsewhere(task):
		return schemas.PermitElsewhere
	case known && task.Permit != "":
		return schemas.PermitGone
	case known:
		return schemas.PermitStale
	case d.mayHaveActed(task) && (d.asksOnUnknown(task.Agent) || task.PreviousAgent != "" && d.asksOnUnknown(task.PreviousAgent)):
		return schemas.PermitUnknown // the permit may be that of the agent whose fallback asks now
	}
	return ""
}

// worksElsewhere reports whether the attempt under way was permitted, and its agent has said since that the work goes
// on elsewhere. Whoever is handed its request after that, because a crash has taken the acknowledgment along, has
// nothing left to do.
func (d *Decision) worksElsewhere(task *workflow.Task) bool {
	heartbeat := d.heartbeat(task)
	return d.Profile.Async(task.Agent) && task.Permit != "" && task.State == workflow.TaskRunning && heartbeat > 0 &&
		task.Silence.Sub(task.Heartbeat) > missedHeartbeats*heartbeat
}

func (d *Decision) mayHaveActed(task *workflow.Task) bool {
	return task.Permit != "" || len(d.PossibleEffects) > 0 && slices.Contains(d.PossibleEffects, d.effect(schemas.RunID(d.Session, d.Run.Number), task.ID))
}

func (d *Decision) asksOnUnknown(agent string) bool {
	if agent == d.Run.Message.ReplyAgent() && d.Profile.Delivery.OnUnknown == schemas.OnUnknownAsk {
		return true
	}
	use := d.Profile.agentUse(agent)
	return use != nil && use.OnUnknown == schemas.OnUnknownAsk
}

// carriesPermit reports whether the request for an attempt brings its permit along. The
// first one to deliver an answer does: a run that is settled is cancelled by
// nobody, so that the answer to the question is known. Where an unknown outcome
// is for a person to judge, it is asked all the same: a request that nobody was
// handed has had no effect then.
func (d *Decision) carriesPermit(id string, kind schemas.TaskKind, agent string, attempt int) bool {
	return id == schemas.DeliveryTask && kind.IsWork() && attempt == 1 && !d.asksOnUnknown(agent) && d.Admission.CarriesPermit()
}
