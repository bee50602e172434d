package schemas

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// apply changes the run by one fact about it, or says why it may not follow.
func (r *Run) apply(fact *Fact, now time.Time) error {
	switch {
	case fact.ComplexityAssessed != nil:
		return r.complexityAssessed(fact.ComplexityAssessed)
	case fact.PlanCreated != nil:
		return r.planCreated(fact.PlanCreated, now)
	case fact.TaskRouted != nil:
		return r.taskRouted(fact.TaskRouted)
	case fact.TaskDispatched != nil:
		return r.taskDispatched(fact.TaskDispatched, now)
	case fact.RunSettled != nil:
		return r.runSettled(fact.RunSettled, now)
	case fact.RunEnded != nil:
		return r.runEnded(fact.RunEnded, now)
	}
	id := fact.Task()
	task := r.Task(id)
	if task == nil {
		return fmt.Errorf("task %q is not in the plan", id)
	}
	if r.State == RunStateReplying && id != DeliveryTask {
		return fmt.Errorf("task %q: the run is settled", id)
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
	r.ready()
	return nil
}

// ready marks the tasks whose dependencies are all completed.
func (r *Run) ready() {
	for i := range r.Tasks {
		if task := &r.Tasks[i]; task.State == TaskStatePending && r.all(task.Dependencies, func(d *RunTask) bool {
			return d.State == TaskStateCompleted
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
	if task == nil || f.Task == DeliveryTask {
		return fmt.Errorf("task %q is not in the plan", f.Task)
	}
	if r.State != RunStateExecuting || task.State.underWay() || task.State.Ended() {
		return fmt.Errorf("task %q is %s", f.Task, task.State)
	}
	task.Agent = f.Decision.NextAgent
	r.Decisions = append(r.Decisions, TaskDecision{Task: f.Task, Decision: f.Decision})
	return nil
}

func (r *Run) taskDispatched(f *TaskDispatched, now time.Time) error {
	if f.Task == DeliveryTask {
		return r.deliveryDispatched(f, now)
	}
	task := r.Task(f.Task)
	switch {
	case task == nil:
		return fmt.Errorf("task %q is not in the plan", f.Task)
	case r.State != RunStateExecuting:
		return fmt.Errorf("task %q: the run is settled", f.Task)
	case r.Decision(f.Task) == nil:
		return fmt.Errorf("task %q is not routed", f.Task)
	case !r.all(task.Dependencies, func(d *RunTask) bool { return d.State.Ended() }):
		return fmt.Errorf("task %q depends on a task that has not ended", f.Task)
	}
	return task.dispatch(f, now)
}

func (r *Run) deliveryDispatched(f *TaskDispatched, now time.Time) error {
	if r.State != RunStateReplying {
		return errors.New("the run is not settled")
	}
	delivery := r.Delivery
	if delivery == nil {
		delivery = &RunTask{Task: DeliveryTask, State: TaskStateReady}
	}
	if err := delivery.dispatch(f, now); err != nil {
		return err
	}
	r.Delivery = delivery
	return nil
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
		task.State, task.Ended = TaskStateSkipped, now
		if f.Status == RunCancelled {
			task.State = TaskStateCancelled
		}
	}
	r.State, r.Settled = RunStateReplying, now
	r.Status, r.Reason, r.Answer, r.Error = f.Status, f.Reason, f.Answer, f.Error
	return nil
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
