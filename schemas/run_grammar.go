package schemas

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// take changes the run by one fact about it, also once it has ended, or says why it
// may not follow.
func (r *Run) take(fact Fact, now time.Time) error {
	switch fact := fact.(type) {
	case *ResponseLate:
		r.Late++
		return nil
	case *PermitRefused:
		r.PermitsRefused = append(r.PermitsRefused, *fact)
		return nil
	case *DeliveryBounced:
		r.bounced(fact)
		return nil
	case *ResendRequested:
		return r.resendRequested()
	case *DeliveryReopened:
		return r.deliveryReopened(fact)
	default:
		if r.State == RunStateEnded {
			return errors.New("the run has ended")
		}
		return r.apply(fact, now)
	}
}

// apply changes the run by one fact about it, or says why it may not follow.
func (r *Run) apply(fact Fact, now time.Time) error {
	switch fact := fact.(type) {
	case *ComplexityAssessed:
		return r.complexityAssessed(fact)
	case *PlanCreated:
		return r.planCreated(fact, now)
	case *PlanRefused:
		return r.planRefused(fact)
	case *TaskRouted:
		return r.taskRouted(fact)
	case *TaskReady:
		return r.taskReady(fact)
	case *TaskDispatched:
		return r.taskDispatched(fact, now)
	case *RunSettled:
		return r.runSettled(fact, now)
	case *ReplyWithheld:
		return r.replyWithheld(fact)
	case *RunEnded:
		return r.runEnded(fact, now)
	default:
		return r.aboutTask(fact, now)
	}
}

func (r *Run) aboutTask(fact Fact, now time.Time) error {
	id := TaskOf(fact)
	task := r.Task(id)
	if task == nil {
		return fmt.Errorf("task %q is not in the plan", id)
	}
	if r.State == RunStateReplying && id != DeliveryTask {
		return fmt.Errorf("task %q: the run is settled", id)
	}
	if mismatch, is := fact.(*EntityMismatched); is {
		r.Mismatches = append(r.Mismatches, *mismatch)
		return nil
	}
	if task.State.Ended() {
		return fmt.Errorf("task %q is %s", id, task.State)
	}
	if err := task.apply(fact, now); err != nil {
		return fmt.Errorf("task %q: %w", id, err)
	}
	r.ready()
	r.Percentage = r.progress()
	return nil
}

func (r *Run) complexityAssessed(f *ComplexityAssessed) error {
	if r.State != RunStatePlanning || r.Complexity != nil {
		return errors.New("it is too late for it")
	}
	complexity := f.Complexity
	r.Complexity = &complexity
	return nil
}

func (r *Run) planCreated(f *PlanCreated, now time.Time) error {
	if r.State != RunStatePlanning {
		return errors.New("the run has a plan")
	}
	tasks := make([]RunTask, len(f.Tasks))
	known := map[string]bool{DeliveryTask: true, "": true}
	for i := range f.Tasks {
		planned := &f.Tasks[i]
		if known[planned.Task] {
			return fmt.Errorf("task %q is there twice or has no proper id", planned.Task)
		}
		known[planned.Task] = true
		tasks[i] = RunTask{
			Task: planned.Task, Description: planned.Description.Text, Agent: planned.Agent,
			Dependencies: slices.Clone(planned.Dependencies), State: TaskStatePending,
			Priority: planned.Priority, Optional: planned.Optional, Resources: planned.Options().Resources, routed: planned.Routed,
		}
	}
	for i := range tasks {
		for _, dependency := range tasks[i].Dependencies {
			if !known[dependency] || dependency == DeliveryTask || dependency == "" || dependency == tasks[i].Task {
				return fmt.Errorf("task %q cannot depend on %q", tasks[i].Task, dependency)
			}
		}
	}
	r.State, r.Planned, r.Tasks = RunStateExecuting, now, tasks
	r.Source, r.Template = f.Source, f.Template
	r.level()
	r.ready()
	return nil
}

// level places every task one behind the deepest that it depends on. A graph
// with a cycle is not settled by this; no machine carries one out.
func (r *Run) level() {
	for again, rounds := true, 0; again && rounds <= len(r.Tasks); rounds++ {
		again = false
		for i := range r.Tasks {
			for _, id := range r.Tasks[i].Dependencies {
				if deeper := r.Task(id).Level + 1; deeper > r.Tasks[i].Level {
					r.Tasks[i].Level, again = deeper, true
				}
			}
		}
	}
}

// planRefused takes back a plan of which nothing has been dispatched.
func (r *Run) planRefused(f *PlanRefused) error {
	if r.State == RunStateReplying {
		return errors.New("the run is settled")
	}
	for i := range r.Tasks {
		if r.Tasks[i].Attempt > 0 {
			return fmt.Errorf("task %q has been dispatched", r.Tasks[i].Task)
		}
	}
	r.State, r.Tasks, r.Decisions, r.PlanFaults = RunStatePlanning, []RunTask{}, []TaskDecision{}, f.Faults
	return nil
}

// ready marks the tasks whose dependencies have all ended.
func (r *Run) ready() {
	for i := range r.Tasks {
		if task := &r.Tasks[i]; task.State == TaskStatePending && r.all(task.Dependencies, func(d *RunTask) bool {
			return d.State.Ended()
		}) {
			task.State = TaskStateReady
		}
	}
}

func (r *Run) all(tasks []string, holds func(*RunTask) bool) bool {
	for _, id := range tasks {
		if !holds(r.Task(id)) {
			return false
		}
	}
	return true
}

func (r *Run) taskRouted(f *TaskRouted) error {
	task := r.Task(f.Task)
	if task == nil || f.Task == DeliveryTask || task.Kind != "" {
		return fmt.Errorf("task %q is not in the plan", f.Task)
	}
	if r.State != RunStateExecuting || task.State.underWay() || task.State.Ended() {
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	}
	task.Agent = f.Decision.NextAgent
	r.Decisions = append(r.Decisions, TaskDecision{Task: f.Task, Decision: f.Decision})
	return nil
}

// aside returns the task outside of the plan that a fact is about, and makes it
// when this is the first that is heard of it.
func (r *Run) aside(id string, kind TaskKind) (*RunTask, error) {
	switch {
	case id == DeliveryTask && r.State != RunStateReplying:
		return nil, errors.New("the run is not settled")
	case id != DeliveryTask && r.State == RunStateReplying:
		return nil, fmt.Errorf("task %q: the run is settled", id)
	case r.Withheld != nil:
		return nil, errors.New("its answer is withheld")
	}
	if task := r.Task(id); task != nil {
		return task, nil
	}
	if id == DeliveryTask {
		r.Delivery = &RunTask{Task: id, State: TaskStateReady}
		return r.Delivery, nil
	}
	r.Support = append(r.Support, RunTask{Task: id, Kind: kind, State: TaskStateReady})
	return &r.Support[len(r.Support)-1], nil
}

func (r *Run) taskReady(f *TaskReady) error {
	task := r.Task(f.Task)
	if f.Task == DeliveryTask || f.Kind != "" {
		var err error
		if task, err = r.aside(f.Task, f.Kind); err != nil {
			return err
		}
	}
	switch {
	case task == nil:
		return fmt.Errorf("task %q is not in the plan", f.Task)
	case task.State.underWay() || task.State.Ended():
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	case !r.all(task.Dependencies, func(d *RunTask) bool { return d.State.Ended() }):
		return fmt.Errorf("task %q depends on a task that has not ended", f.Task)
	}
	task.State, task.Agent, task.RetryAt = TaskStateReady, f.Agent, time.Time{}
	return nil
}

func (r *Run) taskDispatched(f *TaskDispatched, now time.Time) error {
	if f.Task == DeliveryTask || f.Kind != "" {
		task, err := r.aside(f.Task, f.Kind)
		if err != nil {
			return err
		}
		return task.dispatch(f, now)
	}
	task := r.Task(f.Task)
	switch {
	case task == nil:
		return fmt.Errorf("task %q is not in the plan", f.Task)
	case r.State != RunStateExecuting:
		return fmt.Errorf("task %q: the run is settled", f.Task)
	case r.Decision(f.Task) == nil && !task.routed:
		return fmt.Errorf("task %q is not routed", f.Task)
	case !r.all(task.Dependencies, func(d *RunTask) bool { return d.State.Ended() }):
		return fmt.Errorf("task %q depends on a task that has not ended", f.Task)
	}
	return task.dispatch(f, now)
}

// runSettled closes the plan. Tasks that were never begun need no fact of their
// own: they are skipped, or cancelled with the run.
func (r *Run) runSettled(f *RunSettled, now time.Time) error {
	if r.State == RunStateReplying {
		return errors.New("the run is settled")
	}
	for i := range r.Tasks {
		if r.Tasks[i].State.underWay() {
			return fmt.Errorf("task %q is %s", r.Tasks[i].Task, r.Tasks[i].State)
		}
	}
	for i := range r.Tasks {
		task := &r.Tasks[i]
		if task.State.Ended() {
			continue
		}
		task.State, task.Ended, task.Unserved = TaskStateSkipped, now, nil
		if f.Status == RunCancelled {
			task.State = TaskStateCancelled
		}
	}
	r.State, r.Settled = RunStateReplying, now
	r.Status, r.Reason, r.Answer, r.Error = f.Status, f.Reason, f.Answer, f.Error
	return nil
}

// replyWithheld says that there is no delivery.
func (r *Run) replyWithheld(f *ReplyWithheld) error {
	switch {
	case r.State != RunStateReplying:
		return errors.New("the run is not settled")
	case r.Delivery != nil || r.Withheld != nil:
		return errors.New("its answer is being delivered, or withheld already")
	}
	withheld := *f
	r.Withheld = &withheld
	return nil
}

// bounced takes a report on the delivery, however late it comes. One that failed
// for good makes the delivery a failed one, whatever its agent has said.
func (r *Run) bounced(f *DeliveryBounced) {
	r.Bounces = append(r.Bounces, *f)
	if f.Failed && r.Delivery != nil && r.Delivery.State == TaskStateCompleted {
		r.Delivery.State = TaskStateFailed
	}
}

func (r *Run) runEnded(f *RunEnded, now time.Time) error {
	if r.State != RunStateReplying {
		return errors.New("the run is not settled")
	}
	if r.Delivery != nil && !r.Delivery.State.Ended() {
		return errors.New("its answer is being delivered")
	}
	r.State, r.Ended = RunStateEnded, now
	r.Status, r.Reason, r.Replied = f.Status, f.Reason, f.Replied
	return nil
}
