package plan

import (
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// TestRemedies_M44_M45: every failure has its class, and something is done about
// TestRetryInFixedTime: an attempt whose time is fixed is retried, and not with a longer timeout.
func TestRetryInFixedTime(t *testing.T) {
	t.Parallel()
	for fixed, want := range map[time.Duration]schemas.Recovery{0: schemas.RecoveryRetryLonger, time.Minute: schemas.RecoveryRetry} {
		view := &View{Run: &workflow.Run{}, Profile: &Profile{Profile: schemas.Profile{
			Deadlines: schemas.Deadlines{Plan: schemas.Duration(fixed)}, Retry: schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)},
		}}}
		asked := &workflow.Task{Kind: schemas.TaskKindPlan, State: workflow.TaskRunning}
		if failed := failureIn(fail(view, asked, schemas.FailureTimeout)); failed.Action != want {
			t.Errorf("%v: %s", fixed, failed.Action)
		}
	}
}

// it: with attempts left, without, and when the run can do without the task.
func TestRemedies_M44_M45(t *testing.T) {
	t.Parallel()
	const coordinator, planner, skip = schemas.RecoveryEscalateToCoordinator, schemas.RecoveryEscalateToPlanner, schemas.RecoverySkip
	for cause, want := range map[schemas.FailureKind]struct {
		category           schemas.FailureCategory
		first, last, spare schemas.Recovery
	}{
		schemas.FailureTimeout:       {schemas.CategoryExecution, schemas.RecoveryRetryLonger, coordinator, skip},
		schemas.FailureNotStarted:    {schemas.CategoryExecution, schemas.RecoveryRetry, coordinator, skip},
		schemas.FailureAgent:         {schemas.CategoryExecution, schemas.RecoveryRetry, coordinator, skip},
		schemas.FailureInvalidResult: {schemas.CategoryExecution, schemas.RecoveryRetryClarified, coordinator, skip},
		schemas.FailureCrashed:       {schemas.CategoryExecution, schemas.RecoveryRetry, coordinator, skip},
		schemas.FailureUnavailable:   {schemas.CategoryExecution, schemas.RecoveryRetry, coordinator, skip},
		schemas.FailurePermanent:     {schemas.CategoryExecution, coordinator, coordinator, skip},
		schemas.FailureArguments:     {schemas.CategoryValidation, coordinator, coordinator, skip},
		schemas.FailureBlocked:       {schemas.CategoryDependency, planner, planner, skip},
		schemas.FailureNoRoute:       {schemas.CategoryCoordination, coordinator, coordinator, skip},
		schemas.FailureUnknownEffect: {schemas.CategoryCoordination, coordinator, coordinator, skip},
	} {
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			profile := &Profile{Profile: schemas.Profile{
				Agents: []schemas.AgentUse{{Name: "first"}, {Name: "second", Fallback: "first"}},
				Retry:  schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)},
			}}
			view := &View{Run: &workflow.Run{}, Profile: profile}
			remedy := func(task workflow.Task) schemas.TaskFailed {
				task.State = workflow.TaskRunning
				failed := failureIn(fail(view, &task, cause))
				return *failed
			}
			if got := category(cause); got != want.category {
				t.Errorf("it is of class %s", got)
			}
			first := remedy(workflow.Task{ID: "t", Agent: "first", Attempt: 1})
			if first.Action != want.first || first.RetryAt.IsZero() == retryable(cause) || first.Agent != "" {
				t.Errorf("at first: %+v", first)
			}
			if last := remedy(workflow.Task{ID: "t", Agent: "first", Attempt: 2}); last.Action != want.last || !last.RetryAt.IsZero() {
				t.Errorf("at last: %+v", last)
			}
			if spare := remedy(workflow.Task{ID: "t", Agent: "first", Attempt: 2, Plan: &schemas.PlannedTask{Optional: true}}); spare.Action != want.spare {
				t.Errorf("when the run can do without: %+v", spare)
			}
			other := remedy(workflow.Task{ID: "t", Agent: "second", Attempt: 2})
			if falls := cause != schemas.FailureUnknownEffect; (other.Action == schemas.RecoveryFallback) != falls || (other.Agent == "first") != falls {
				t.Errorf("with a fallback: %+v", other)
			}
			if again := remedy(workflow.Task{ID: "t", Agent: "second", Attempt: 4, UncountedAttempts: 2, PreviousAgent: "first"}); again.Agent != "" {
				t.Errorf("with a fallback that is one: %+v", again)
			}
		})
	}
}

// TestNoRoomToDeliver: an answer for which there is no room waits for longer and
// longer and uses up no attempt, for a day; other work is tried as often as any.
func TestNoRoomToDeliver(t *testing.T) {
	t.Parallel()
	policy := schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)}
	view := &View{Run: &workflow.Run{}, Profile: &Profile{Profile: schemas.Profile{Retry: policy, Delivery: policy}}}
	refuse := func(run *workflow.Run, id string) (wait time.Duration, again bool) {
		task := run.Task(id)
		task.State, task.Attempt = workflow.TaskRunning, task.Attempt+1
		failed := failureIn(failWith(view, task, schemas.TaskFailed{Cause: schemas.FailureAgent, Category: schemas.CategoryResource}))
		run.Apply(failed, view.Now)
		return failed.RetryAt.Sub(view.Now), !failed.RetryAt.IsZero()
	}
	run := &workflow.Run{
		Tasks: []*workflow.Task{{ID: "t1", Agent: "worker"}}, Delivery: &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, Agent: "mail"},
	}
	waited := time.Duration(0)
	for i := range workflow.MaxTurnedAway {
		wait, again := refuse(run, schemas.DeliveryTask)
		want := min(time.Second<<min(i, 20), time.Duration(schemas.MaxRetryWait))
		if !again || wait != want {
			t.Fatalf("after %d refusals it waits %v (%t), want %v", i+1, wait, again, want)
		}
		waited += wait
	}
	answer := run.Delivery
	if waited < 23*time.Hour || answer.Attempt-answer.UncountedAttempts != 0 {
		t.Errorf("it waited %v and used up %d attempts", waited, answer.Attempt-answer.UncountedAttempts)
	}
	for i := range policy.Attempts {
		if _, again := refuse(run, schemas.DeliveryTask); again != (i+1 < policy.Attempts) {
			t.Errorf("attempt %d after a day: tried again %t", i+1, again)
		}
	}
	for i := range policy.Attempts {
		if _, again := refuse(run, "t1"); again != (i+1 < policy.Attempts) {
			t.Errorf("attempt %d of work: tried again %t", i+1, again)
		}
	}
}

// failureIn returns the failure that is the first of some events.
func failureIn(done events) *schemas.TaskFailed {
	of, _ := done[0].(failureEvent)
	failed, _ := of.Fact.(*schemas.TaskFailed)
	return failed
}
