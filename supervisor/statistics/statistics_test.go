package statistics_test

import (
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/session"
	"podium/supervisor/statistics"
)

var at = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

func record(facts map[time.Duration]schemas.Fact, order ...time.Duration) *schemas.Record {
	var made schemas.Record
	for _, after := range order {
		made.Transitions = append(made.Transitions, schemas.Transition{Cause: schemas.Cause{Time: at.Add(after)}, Facts: schemas.Facts{facts[after]}})
	}
	return &made
}

// TestWhatBecomesOfRequestsIsCounted_G35: how long they wait and are worked on, and how they end, within one record or
// over several, and it is known again after a restart.
func TestWhatBecomesOfRequestsIsCounted_G35(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	keeper, err := statistics.Open(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	keeper.Observe(&session.State{}, record(map[time.Duration]schemas.Fact{
		0:               &schemas.TaskDispatched{Run: 1, Task: "t1", Agent: "alpha"},
		2 * time.Second: &schemas.TaskStarted{Run: 1, Task: "t1"},
		7 * time.Second: &schemas.TaskCompleted{Run: 1, Task: "t1"},
	}, 0, 2*time.Second, 7*time.Second))
	under := session.State{Active: &workflow.Run{Number: 2, Tasks: []*workflow.Task{
		{ID: "t1", Agent: "alpha", State: workflow.TaskRunning, Dispatched: at, Started: at.Add(time.Second)},
		{ID: "t2", Agent: "beta", State: workflow.TaskDispatched, Dispatched: at},
		{ID: "t3", Agent: "beta", State: workflow.TaskReady},
	}}}
	keeper.Observe(&under, record(map[time.Duration]schemas.Fact{
		4 * time.Second: &schemas.TaskFailed{Run: 2, Task: "t1", Cause: schemas.FailureCrashed, Category: schemas.CategoryExecution},
		5 * time.Second: &schemas.TaskFailed{Run: 2, Task: "t2", Cause: schemas.FailureNotStarted, Category: schemas.CategoryExecution},
		6 * time.Second: &schemas.TaskFailed{Run: 2, Task: "t3", Cause: schemas.FailureUnavailable}, // it was not asked
		8 * time.Second: &schemas.TaskCompleted{Run: 2, Task: "t4", Reused: 7},
	}, 4*time.Second, 5*time.Second, 6*time.Second, 8*time.Second))
	keeper.Waiting(0, map[string]int{"alpha": 2})
	keeper.Waiting(1, map[string]int{"alpha": 3, "beta": 1})
	keeper.Waiting(1, nil)
	now := at.Add(time.Minute)
	check := func(when string, alpha, beta *statistics.Agent) {
		t.Helper()
		if alpha.Completed != 1 || alpha.Failed != 1 || alpha.Queue.Count(now) != 1 || alpha.Work.Count(now) != 2 || alpha.LastFailure.Cause != schemas.FailureCrashed {
			t.Errorf("%s, of alpha: %+v", when, alpha)
		}
		if waited, worked := alpha.Queue.Quantile(now, 0.5), alpha.Work.Quantile(now, 0.99); (waited-2*time.Second).Abs() > 200*time.Millisecond || (worked-5*time.Second).Abs() > 500*time.Millisecond {
			t.Errorf("%s, alpha waited %s and worked %s", when, waited, worked)
		}
		if beta.Completed != 0 || beta.Failed != 1 || beta.Queue.Count(now) != 1 || beta.Work.Count(now) != 0 {
			t.Errorf("%s, of beta: %+v", when, beta)
		}
	}
	alpha, beta := keeper.Agent("alpha"), keeper.Agent("beta")
	check("at once", &alpha, &beta)
	if alpha.Ready != 2 || beta.Ready != 0 {
		t.Errorf("%d wait for alpha, %d for beta", alpha.Ready, beta.Ready)
	}
	if err := keeper.Write(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	_, written, err := ledger.KeyValue(bus.AgentBucket).Get(t.Context(), "statistics.alpha")
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Write(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if _, again, err := ledger.KeyValue(bus.AgentBucket).Get(t.Context(), "statistics.alpha"); err != nil || again != written {
		t.Errorf("nothing has changed, and it is written again: %d, %d, %v", written, again, err)
	}
	read, err := statistics.Read(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	check("for other verbs", read["alpha"], read["beta"])
	if keeper, err = statistics.Open(t.Context(), ledger); err != nil {
		t.Fatal(err)
	}
	alpha, beta = keeper.Agent("alpha"), keeper.Agent("beta")
	check("after a restart", &alpha, &beta)
	if alpha.Ready != 0 {
		t.Errorf("after a restart %d wait, before anybody has said so", alpha.Ready)
	}
}
