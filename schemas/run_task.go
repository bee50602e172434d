package schemas

import (
	"errors"
	"fmt"
	"time"
)

func (t *RunTask) dispatch(f *TaskDispatched, now time.Time) error {
	if t.State.underWay() || t.State.Ended() {
		return fmt.Errorf("task %q is %s", t.Task, t.State)
	}
	if f.Attempt != t.Attempt+1 {
		return fmt.Errorf("task %q: attempt %d follows attempt %d", t.Task, f.Attempt, t.Attempt)
	}
	t.State, t.Agent, t.Attempt, t.Dispatched = TaskStateDispatched, f.Agent, f.Attempt, now
	t.Started, t.RetryAt, t.Percentage, t.Message = time.Time{}, time.Time{}, 0, ""
	if f.Permitted && t.acting {
		return fmt.Errorf("task %q: its effect was permitted before", t.Task)
	}
	if f.Permitted {
		t.Permit, t.acting = PermitID(f.Request), true
	}
	return nil
}

// apply changes a task that has not ended by one fact about it.
func (t *RunTask) apply(fact Fact, now time.Time) error {
	switch fact := fact.(type) {
	case *TaskUnserved:
		return t.unserved(fact)
	case *TaskStarted:
		return t.started(fact, now)
	case *TaskProgressed:
		return t.progressed(fact)
	case *TaskHeartbeat:
		return t.current(fact.Attempt)
	case *TaskDelayed:
		t.Delayed = true
		return t.current(fact.Attempt)
	case *PermitGranted:
		return t.permitted(fact)
	case *TaskCompleted:
		return t.completed(fact, now)
	case *TaskFailed:
		return t.failed(fact, now)
	case *TaskSkipped:
		return t.skipped(fact, now)
	case *TaskCancelled:
		return t.cancelled(fact, now)
	default:
		return errors.New("nothing of this kind is known about tasks")
	}
}

// current refuses what does not concern the attempt that is under way.
func (t *RunTask) current(attempt int) error {
	if !t.State.underWay() {
		return fmt.Errorf("it is %s", t.State)
	}
	if attempt != t.Attempt {
		return fmt.Errorf("attempt %d while attempt %d is under way", attempt, t.Attempt)
	}
	return nil
}

// permitted holds an effect to one permit: another one says that it is again.
func (t *RunTask) permitted(f *PermitGranted) error {
	if err := t.current(f.Attempt); err != nil {
		return err
	}
	switch {
	case t.acting && !f.Again:
		return fmt.Errorf("permit %s: the effect was permitted before", f.Permit)
	case f.Again && !t.acting:
		return fmt.Errorf("permit %s: the effect was not permitted before", f.Permit)
	}
	t.Permit, t.acting = f.Permit, true
	return nil
}

// unserved notes that nobody is there to do what is asked, or is about to be.
func (t *RunTask) unserved(f *TaskUnserved) error {
	if t.State != TaskStateReady && t.State != TaskStateDispatched {
		return fmt.Errorf("it is %s", t.State)
	}
	t.Unserved = &Unserved{Since: f.Since}
	return nil
}

func (t *RunTask) started(f *TaskStarted, now time.Time) error {
	if err := t.current(f.Attempt); err != nil {
		return err
	}
	if t.State == TaskStateRunning {
		return errors.New("it is running")
	}
	t.State, t.Started, t.Unserved = TaskStateRunning, now, nil
	return nil
}

func (t *RunTask) progressed(f *TaskProgressed) error {
	if err := t.current(f.Attempt); err != nil {
		return err
	}
	if f.Percentage < 0 || f.Percentage > 100 {
		return fmt.Errorf("%d percent", f.Percentage)
	}
	t.Percentage, t.Message = f.Percentage, f.Message
	return nil
}

// completed ends a task. One that was answered without an agent, or by an earlier
// answer, has no attempt.
func (t *RunTask) completed(f *TaskCompleted, now time.Time) error {
	if f.Attempt > 0 || t.Attempt > 0 || t.State.underWay() {
		if err := t.current(f.Attempt); err != nil {
			return err
		}
	}
	result := f.Result
	t.Unserved = nil
	t.State, t.Ended, t.Percentage, t.Result = TaskStateCompleted, now, 100, &result
	t.Reused, t.Deliverables, t.Unproven = f.Reused, f.Deliverables, f.Unproven
	return nil
}

// failed ends an attempt. A task that nobody can be asked to do fails before
// its first attempt.
func (t *RunTask) failed(f *TaskFailed, now time.Time) error {
	if t.State.underWay() {
		if err := t.current(f.Attempt); err != nil {
			return err
		}
	} else if f.Attempt != t.Attempt {
		return fmt.Errorf("attempt %d fails after attempt %d", f.Attempt, t.Attempt)
	}
	t.acting, t.Unserved = t.acting && !f.Undone(), nil
	t.Failure, t.Detail, t.RetryAt, t.Action, t.Quarantine = f.Cause, f.Detail, f.RetryAt, f.Action, f.Quarantine
	t.FailedAttempt = f.Attempt
	switch {
	case !f.RetryAt.IsZero():
		t.State = TaskStateReady
	case f.Agent != "":
		t.State, t.Agent = TaskStateReady, f.Agent
	case f.Action == RecoverySkip:
		t.State, t.Ended = TaskStateSkipped, now
	default:
		t.State, t.Ended = TaskStateFailed, now
	}
	return nil
}

func (t *RunTask) skipped(f *TaskSkipped, now time.Time) error {
	if t.State.underWay() {
		return fmt.Errorf("it is %s", t.State)
	}
	t.State, t.Ended, t.Detail, t.Unserved = TaskStateSkipped, now, f.Reason, nil
	return nil
}

func (t *RunTask) cancelled(f *TaskCancelled, now time.Time) error {
	if f.Attempt != 0 && f.Attempt != t.Attempt {
		return fmt.Errorf("attempt %d while attempt %d is under way", f.Attempt, t.Attempt)
	}
	t.State, t.Ended, t.Unserved = TaskStateCancelled, now, nil
	return nil
}
