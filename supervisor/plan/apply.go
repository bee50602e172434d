package plan

import "podium/schemas"

// Begin returns the run that a fact begins.
func Begin(f *schemas.RunStarted) *Run {
	return &Run{
		Number: f.Run, Profile: f.Profile, ProfileHash: f.ProfileHash,
		Message: f.Message, Phase: PhaseDecomposing,
	}
}

// Apply changes the run by one fact about it. A fact that does not concern a
// task of the run changes nothing.
func (r *Run) Apply(f *schemas.Fact) {
	switch {
	case f.PlanCreated != nil:
		r.applyPlan(f.PlanCreated)
	case f.TaskRouted != nil:
		r.applyRoute(f.TaskRouted)
	case f.RunSettled != nil:
		r.Phase = PhaseAssembling
		r.Status, r.Reason = f.RunSettled.Status, f.RunSettled.Reason
		r.Answer, r.Error = f.RunSettled.Answer, f.RunSettled.Error
	case f.RunEnded != nil:
		r.Phase = PhaseComplete
		r.Status, r.Reason = f.RunEnded.Status, f.RunEnded.Reason
	default:
		r.applyTask(f)
	}
}

func (r *Run) applyPlan(f *schemas.PlanCreated) {
	r.Phase = PhaseRouting
	for i := range f.Tasks {
		planned := &f.Tasks[i]
		r.Tasks = append(r.Tasks, Task{
			ID: planned.Task, Description: planned.Description,
			Dependencies: planned.Dependencies, Agent: planned.Agent, State: TaskPending,
		})
	}
}

func (r *Run) applyRoute(f *schemas.TaskRouted) {
	if task := r.Task(f.Task); task != nil {
		task.Agent = f.Decision.NextAgent
	}
	for i := range r.Tasks {
		if r.Tasks[i].Agent == "" {
			return
		}
	}
	r.Phase = PhaseExecuting
}

func (r *Run) applyTask(f *schemas.Fact) {
	switch {
	case f.TaskDispatched != nil:
		r.applyDispatch(f.TaskDispatched)
	case f.TaskStarted != nil:
		if task := r.Task(f.TaskStarted.Task); task != nil {
			task.State, task.Due = TaskRunning, f.TaskStarted.Deadline
		}
	case f.TaskProgressed != nil:
		if task := r.Task(f.TaskProgressed.Task); task != nil {
			task.Percentage, task.Note = f.TaskProgressed.Percentage, f.TaskProgressed.Message
		}
	case f.TaskCompleted != nil:
		if task := r.Task(f.TaskCompleted.Task); task != nil {
			task.State, task.Percentage, task.Result = TaskCompleted, 100, f.TaskCompleted.Result
		}
	case f.TaskFailed != nil:
		r.applyFailure(f.TaskFailed)
	case f.TaskSkipped != nil:
		if task := r.Task(f.TaskSkipped.Task); task != nil {
			task.State = TaskSkipped
		}
	case f.TaskCancelled != nil:
		if task := r.Task(f.TaskCancelled.Task); task != nil {
			task.State = TaskCancelled
		}
	}
}

func (r *Run) applyDispatch(f *schemas.TaskDispatched) {
	if f.Task == DeliveryTask && r.Delivery == nil {
		r.Delivery = &Task{ID: DeliveryTask}
	}
	task := r.Task(f.Task)
	if task == nil {
		return
	}
	if r.Phase == PhaseRouting {
		r.Phase = PhaseExecuting
	}
	task.State, task.Agent, task.Attempt = TaskDispatched, f.Agent, f.Attempt
	task.Request, task.Due = f.Request, f.Queue
	task.Percentage, task.Note = 0, ""
}

func (r *Run) applyFailure(f *schemas.TaskFailed) {
	task := r.Task(f.Task)
	if task == nil {
		return
	}
	task.Failure, task.Detail = f.Cause, f.Detail
	if f.RetryAt.IsZero() {
		task.State = TaskFailed
		return
	}
	task.State, task.Due = TaskWaiting, f.RetryAt
}
