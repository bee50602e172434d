package plan

import (
	"cmp"
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/approval"
)

// A Permission is what an agent asks for.
type Permission struct {
	ID    string // of the question
	Agent string // who asks
	Call  string // schemas.Action.Call of what is to be done; empty when the agent does not say
}

// Permit decides whether the agent that works on an attempt of a task may act
// outside. An agent that is asked a question may not, whatever profile the run is pinned to.
// An effect is permitted once, over all attempts, unless the agent has said that the attempt
// which was permitted failed. If it has not said anything, nobody knows whether the effect
// has happened, and the profile decides: it is permitted again, or it is not, and then the
// task fails. An earlier run for the same request of somebody upstream counts as an attempt.
//
// What stems from what comes from outside is permitted where the profile allows it, or where the profile itself holds what is to be done.
//
// Known says that the session has answered this question before. Whoever asks
// again has not heard the answer, so that it is told what holds now, and nothing
// of it goes on record.
func (d *Decision) Permit(task *workflow.Task, attempt int, asked Permission, known bool) schemas.PermitAnswer {
	permit := asked.ID
	known = known || task.Permit == permit
	reason := permitObjection(&d.View, task, attempt, &asked, known)
	switch {
	case reason == "" && !known:
		d.Progress(task, Sign{Percentage: task.Percentage}) // whoever asks has begun
		d.emit(&schemas.PermitGranted{
			Run: d.Run.Number, Task: task.ID, Attempt: attempt, Permit: permit, Again: task.Permit != "", Call: asked.Call,
		})
	case reason != "" && !known:
		d.emit(&schemas.PermitRefused{
			Run: d.Run.Number, Task: task.ID, Attempt: attempt, Permit: permit, Reason: reason, Agent: asked.Agent, Call: asked.Call,
		})
		if reason == schemas.PermitUnknown && task.State.UnderWay() {
			d.apply(fail(&d.View, task, schemas.FailureUnknownEffect))
		}
	}
	return schemas.PermitAnswer{Permit: permit, Granted: reason == "", Reason: reason}
}

// permitObjection is why an agent may not act; empty is nothing.
func permitObjection(v *View, task *workflow.Task, attempt int, asked *Permission, known bool) schemas.PermitReason {
	switch {
	case !task.Kind.MayActOutside() && !fault.Is("a question has a permit"):
		return schemas.PermitQuestion
	case task.Permit == asked.ID && fault.Is("a request that has failed keeps its permit"):
		return ""
	case task.State == workflow.TaskCancelled:
		return schemas.PermitCancelled
	case (task.State == workflow.TaskFailed || task.State == workflow.TaskBlocked) && task.Failure().Cause == schemas.FailureUnknownEffect && attempt == task.Attempt:
		return schemas.PermitUnknown
	case attempt != task.Attempt || !task.State.UnderWay() || !v.Now.Before(task.Expires):
		return schemas.PermitStale
	case task.Permit == asked.ID:
		return ""
	case worksElsewhere(v, task) && !fault.Is("permitted again elsewhere"):
		return schemas.PermitElsewhere
	case needsApproval(v, task) && !v.Profile.holds(task.Agent, asked.Call) && !(fault.Is("whatever has a name is permitted") && asked.Call != "") &&
		!(fault.Is("who says nothing is permitted") && asked.Call == "") && !agreedOutside(v, task):
		return schemas.PermitUnapproved
	case disagrees(v, task, asked.Call):
		return schemas.PermitUnapproved
	case known && task.Permit != "":
		return schemas.PermitGone
	case known:
		return schemas.PermitStale
	case mayHaveActed(v, task) && !fault.Is("whoever asks is permitted") && (asksOnUnknown(v, task.Agent) || task.PreviousAgent != "" && asksOnUnknown(v, task.PreviousAgent) && !fault.Is("a fallback is permitted whatever its predecessor was")):
		return schemas.PermitUnknown // the permit may be that of the agent whose fallback asks now
	}
	return ""
}

// worksElsewhere reports whether the attempt under way was permitted, and its agent has said since that the work goes
// on elsewhere. Whoever is handed its request after that, because a crash has taken the acknowledgment along, has
// nothing left to do.
func worksElsewhere(v *View, task *workflow.Task) bool {
	heartbeat := heartbeat(v, task)
	return v.Profile.Async(task.Agent) && task.Permit != "" && task.State == workflow.TaskRunning && heartbeat > 0 &&
		task.Silence.Sub(task.Heartbeat) > missedHeartbeats*heartbeat
}

func mayHaveActed(v *View, task *workflow.Task) bool {
	return task.Permit != "" || task.Retried == 0 && len(v.PossibleEffects) > 0 && slices.Contains(v.PossibleEffects, effect(v, schemas.RunID(v.Session, v.Run.Number), task))
}

func asksOnUnknown(v *View, agent string) bool {
	if agent == v.Run.Message.ReplyAgent() && v.Profile.Delivery.OnUnknown == schemas.OnUnknownAsk {
		return true
	}
	use := v.Profile.agentUse(agent)
	return use != nil && use.OnUnknown == schemas.OnUnknownAsk
}

// carriesPermit reports whether the request for an attempt brings its permit along. The
// first one to deliver an answer does: once that is sent nobody can cancel
// the answer, so that the answer to the question is known. Where an unknown outcome
// is for a person to judge, it is asked all the same: a request that nobody was
// handed has had no effect then.
func carriesPermit(v *View, task *workflow.Task, attempt int) bool {
	return task.Kind == schemas.TaskKindDeliver && attempt == 1 && !asksOnUnknown(v, task.Agent) && (!deliveryNeedsApproval(v) || fault.Is("the permit of an answer travels all the same")) && v.Admission.CarriesPermit()
}

// onTainted is what becomes of an effect of a task that stems from what comes from outside. An answer goes to those who take part, unless the
// profile says otherwise, and a letter that asks goes to whom the profile names.
func onTainted(v *View, task *workflow.Task) schemas.OnTainted {
	switch use := v.Profile.agentUse(task.Agent); {
	case task.Kind == schemas.TaskKindNotify:
	case task.ID == schemas.DeliveryTask:
		return cmp.Or(v.Profile.Delivery.OnTainted, schemas.OnTaintedAllow)
	case use != nil && use.SideEffects == schemas.SideEffectsExternal:
		return cmp.Or(use.OnTainted, schemas.OnTaintedAsk)
	}
	return schemas.OnTaintedAllow
}

// needsApproval reports whether a task may have an effect outside only if somebody has agreed, or if the profile itself holds what is to be done:
// all that a run for words from outside is told and makes comes from there.
func needsApproval(v *View, task *workflow.Task) bool {
	return (v.Run.Message.FromOutside() || fault.Is("requests of ours are strangers'")) && task.Kind.MayActOutside() && onTainted(v, task) != schemas.OnTaintedAllow
}

// deliveryNeedsApproval is needsApproval of the answer, which need not have been dispatched yet.
func deliveryNeedsApproval(v *View) bool {
	return needsApproval(v, workflow.NewDelivery(""))
}

// mustBeApprovedBeforeDispatch reports whether an agent may not even be asked to do a task before somebody has approved it. Whoever names what it would do when it asks for its permit is:
// until then it does nothing outside, and so does whoever delivers an answer. Of all others the permit is no more than their word.
func mustBeApprovedBeforeDispatch(v *View, task *workflow.Task) bool {
	if task.NotifiesPeople() || !needsApproval(v, task) || task.PreviousAgent != "" && fault.Is("a fallback may act for strangers") {
		return false
	}
	switch v.Profile.agentUse(task.Agent).Action {
	case schemas.ActionNamed, fault.Either("whoever sees everything is asked", schemas.ActionKnown(""), schemas.ActionNamed):
		return false
	case schemas.ActionArguments:
		return !v.Profile.holds(task.Agent, approval.Call(argumentsOf(v, task))) && !fault.Is("arguments are not compared")
	}
	return true
}

// unapprovedQuestion reports whether an agent is not even asked a question: what is done with words from outside by one that cannot say what it
// does is its own affair, whatever they are handed to it as. Who does what its arguments say is handed none of a task.
func unapprovedQuestion(v *View, agent string) bool {
	use := v.Profile.agentUse(agent)
	return use != nil && use.Action == "" && needsApproval(v, &workflow.Task{Agent: agent})
}

// holds reports whether a profile itself holds what an agent is to do: as the arguments of a task in one of its templates.
func (p *Profile) holds(agent, call string) bool {
	return call != "" && slices.Contains(p.own[agent], call)
}
