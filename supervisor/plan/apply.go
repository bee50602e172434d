package plan

import (
	"time"

	"podium/schemas"
)

// Begin returns the run that a fact begins.
func Begin(f *schemas.RunStarted) *Run {
	return &Run{
		Number: f.Run, Profile: f.Profile, ProfileHash: f.ProfileHash,
		Message: f.Message, Expires: f.Expires, Entities: f.Entities, Phase: PhaseDecomposing,
	}
}

// Apply changes the run by one fact about it, decided at now. A fact that does
// not concern a task of the run changes nothing.
func (r *Run) Apply(f *schemas.Fact, now time.Time) {
	switch {
	case f.PlanCreated != nil:
		r.applyPlan(f.PlanCreated, now)
	case f.PlanRefused != nil:
		r.Phase, r.Tasks, r.index, r.Faults = PhaseDecomposing, nil, nil, f.PlanRefused.Faults
	case f.TaskRouted != nil:
		r.applyRoute(f.TaskRouted)
	case f.TaskReady != nil:
		task := r.take(f.TaskReady.Task, f.TaskReady.Kind)
		task.State, task.Agent, task.Due = TaskReady, f.TaskReady.Agent, f.TaskReady.Until
	case f.TaskDispatched != nil:
		r.applyDispatch(f.TaskDispatched)
	case f.RunSettled != nil:
		r.Phase = PhaseAssembling
		r.Status, r.Reason = f.RunSettled.Status, f.RunSettled.Reason
		r.Answer, r.Error = f.RunSettled.Answer, f.RunSettled.Error
	case f.RunEnded != nil:
		r.Phase = PhaseComplete
		r.Status, r.Reason = f.RunEnded.Status, f.RunEnded.Reason
	default:
		if task := r.change(f.Task()); task != nil {
			task.apply(f, now)
		}
	}
}

func (r *Run) applyPlan(f *schemas.PlanCreated, now time.Time) {
	r.Phase, r.Source, r.Planned, r.Faults = PhaseRouting, f.Source, now, nil
	r.Tasks, r.index = make([]*Task, len(f.Tasks)), nil
	for i := range f.Tasks {
		planned := &f.Tasks[i]
		r.Tasks[i] = &Task{ID: planned.Task, Plan: planned, Agent: planned.Agent, Routed: planned.Routed, State: TaskPending}
	}
	for i, level := range levels(f.Tasks) {
		r.Tasks[i].Level = level
	}
	if len(f.Tasks) > indexed {
		r.index = indexOf(f.Tasks)
	}
	r.routed()
}

// indexed is how many tasks are found faster one by one than by an index.
const indexed = 8

func (r *Run) applyRoute(f *schemas.TaskRouted) {
	if task := r.change(f.Task); task != nil {
		task.Agent, task.Routed = f.Decision.NextAgent, true
	}
	r.routed()
}

// routed goes on to the next phase when every task has been routed (P-13).
func (r *Run) routed() {
	for i := range r.Tasks {
		if !r.Tasks[i].Routed {
			return
		}
	}
	if r.Phase == PhaseRouting {
		r.Phase = PhaseExecuting
	}
}

// take returns the task with that id to be changed, and makes it when it is none
// of the plan.
func (r *Run) take(id string, kind schemas.TaskKind) *Task {
	if task := r.change(id); task != nil {
		return task
	}
	if id == DeliveryTask {
		r.Delivery = &Task{ID: id}
		return r.Delivery
	}
	added := &Task{ID: id, Kind: kind}
	r.Support = append(r.Support, added)
	return added
}

func (r *Run) applyDispatch(f *schemas.TaskDispatched) {
	task := r.take(f.Task, f.Kind)
	task.State, task.Agent, task.Attempt, task.Asked = TaskDispatched, f.Agent, f.Attempt, task.Request
	task.Request, task.Due, task.Expires = f.Request, f.Queue, f.Expires
	task.Percentage, task.Note, task.Began, task.Ended = 0, "", time.Time{}, time.Time{}
	task.Slow, task.Silence, task.Heard = time.Time{}, time.Time{}, time.Time{}
	if f.Permitted {
		task.Permit = schemas.PermitID(f.Request)
	}
}

func (t *Task) apply(f *schemas.Fact, now time.Time) {
	switch {
	case f.TaskUnserved != nil:
		t.Unserved = &schemas.Unserved{Since: f.TaskUnserved.Since}
	case f.TaskStarted != nil:
		t.Unserved = nil
		t.State, t.Due, t.Began, t.Heard = TaskRunning, f.TaskStarted.Deadline, now, now
		t.Slow, t.Silence = f.TaskStarted.Slow, f.TaskStarted.Silence
	case f.TaskProgressed != nil:
		t.Percentage, t.Note = f.TaskProgressed.Percentage, f.TaskProgressed.Message
	case f.TaskHeard != nil:
		t.Heard, t.Silence = now, f.TaskHeard.Silence
	case f.TaskDelayed != nil:
		t.Slow = time.Time{}
	case f.TaskCompleted != nil:
		t.complete(f.TaskCompleted, now)
	case f.TaskFailed != nil:
		t.fail(f.TaskFailed, now)
	case f.TaskSkipped != nil:
		t.State, t.Ended, t.Unserved = TaskSkipped, now, nil
	case f.TaskCancelled != nil:
		t.State, t.Ended, t.Unserved = TaskCancelled, now, nil
	case f.PermitGranted != nil:
		t.Permit = f.PermitGranted.Permit
	}
}

func (t *Task) complete(f *schemas.TaskCompleted, now time.Time) {
	t.State, t.Percentage, t.Result, t.Ended = TaskCompleted, 100, f.Result, now
	t.Made, t.Tokens, t.Unserved = f.Deliverables, t.Tokens+f.Tokens, nil
	t.Proven, t.Unproven = f.Proven, f.Unproven
}

func (t *Task) fail(f *schemas.TaskFailed, now time.Time) {
	t.Failure, t.Detail, t.Recovery, t.Unserved = f.Cause, f.Detail, f.Action, nil
	if f.Undone() {
		t.Permit = ""
	}
	switch {
	case !t.State.UnderWay():
		t.Refused++
	case turnedAway(t, f):
		t.Base, t.Refused = t.Base+1, t.Refused+1
	}
	switch {
	case !f.RetryAt.IsZero():
		t.State, t.Due = TaskWaiting, f.RetryAt
	case f.Agent != "":
		t.State, t.Former, t.Agent, t.Base, t.Refused = TaskReady, t.Agent, f.Agent, t.Attempt, 0
		t.Due = time.Time{}
	case f.Action == schemas.RecoverySkip:
		t.State, t.Ended = TaskSkipped, now
	default:
		t.State, t.Ended = TaskFailed, now
	}
}
