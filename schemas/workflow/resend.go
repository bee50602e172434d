package workflow

import "podium/schemas"

// Reopen returns the run that a fact takes back to the delivery of its answer. Of its
// tasks it has what goes with that.
func Reopen(f *schemas.DeliveryReopened) *Run {
	run := &Run{
		Number: f.Run, Profile: f.Profile, ProfileHash: f.ProfileHash, Message: f.Message, Phase: PhaseAssembling,
		Status: f.Status, Reason: f.Reason, Answer: f.Answer, Error: f.Error, Reopened: true,
	}
	for i := range f.Made {
		made := &f.Made[i]
		run.Tasks = append(run.Tasks, &Task{ID: made.Task, State: TaskCompleted, Routed: true, Deliverables: made.Deliverables, Proven: made.Proven})
	}
	if f.Attempt > 0 {
		// It has all its attempts before it, as if the earlier ones had been asked of somebody else.
		run.Delivery = &Task{ID: DeliveryTask, State: TaskPending, Agent: f.Agent, Attempt: f.Attempt, AttemptsBefore: f.Attempt, Request: f.Request}
	}
	return run
}

// Reopening returns the fact that takes the run, as it was before it ended, back to the
// delivery of its answer.
func (r *Run) Reopening(allowDuplicate bool) schemas.DeliveryReopened {
	f := schemas.DeliveryReopened{
		Run: r.Number, Profile: r.Profile, ProfileHash: r.ProfileHash, Message: r.Message,
		Status: r.Status, Reason: r.Reason, Answer: r.Answer, Error: r.Error, Agent: r.Message.ReplyAgent(), AllowDuplicate: allowDuplicate,
	}
	for i := range r.Answer {
		if task := r.Task(r.Answer[i].Task); task != nil && (len(task.Deliverables) > 0 || len(task.Proven) > 0) {
			f.Made = append(f.Made, schemas.MadeByTask{Task: task.ID, Deliverables: task.Deliverables, Proven: task.Proven})
		}
	}
	if r.Delivery != nil {
		f.Attempt, f.Request = r.Delivery.Attempt, r.Delivery.Request
	}
	return f
}
