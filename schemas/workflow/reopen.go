package workflow

import (
	"time"

	"podium/schemas"
)

// Reopen returns the run that a fact takes back to the delivery of its answer. Of its
// tasks it has what goes with that.
func Reopen(f *schemas.DeliveryReopened) *Run {
	run := &Run{Number: f.Run, Profile: f.Profile, ProfileHash: f.ProfileHash, Message: f.Message, Reopened: true}
	for i := range f.Made {
		made := &f.Made[i]
		run.Tasks = append(run.Tasks, &Task{ID: made.Task, Agent: made.Agent, State: TaskCompleted, Routed: true, Deliverables: made.Deliverables, Proven: made.Proven})
	}
	applyReopened(run, f)
	return run
}

// applyReopened goes back to where the run was settled. The delivery has all its attempts
// before it, as if the earlier ones had been asked of somebody else.
func applyReopened(r *Run, f *schemas.DeliveryReopened) {
	r.Phase, r.Status, r.Reason, r.Answer, r.Error, r.Notes, r.Summary = PhaseAssembling, f.Status, f.Reason, f.Answer, f.Error, f.Notes, f.Summary
	if f.Attempt == 0 {
		return
	}
	delivery := *NewDelivery("")
	if r.Delivery != nil {
		delivery = *r.Delivery
	}
	delivery.State, delivery.Agent, delivery.Attempt, delivery.UncountedAttempts, delivery.Request = TaskPending, f.Agent, f.Attempt, f.Attempt, f.Request
	delivery.PreviousAgent, delivery.Rejections, delivery.Due, delivery.Ended, delivery.Permit = "", 0, time.Time{}, time.Time{}, ""
	r.Delivery = &delivery
}
