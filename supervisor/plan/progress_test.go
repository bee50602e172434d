package plan_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// states are all that a task can be in.
func states() []workflow.TaskState {
	return []workflow.TaskState{
		workflow.TaskPending, workflow.TaskReady, workflow.TaskDue, workflow.TaskDispatched, workflow.TaskRunning, workflow.TaskWaiting,
		workflow.TaskCompleted, workflow.TaskFailed, workflow.TaskSkipped, workflow.TaskCancelled,
	}
}

// TestProgressPartition_M15: every task stands in exactly one list, in the order
// of the plan, and only what is completed counts (M-33).
func TestProgressPartition_M15(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := &workflow.Run{Planned: start()}
		completed := 0
		for i := range rapid.IntRange(0, 40).Draw(t, "tasks") {
			task := &workflow.Task{
				ID: strconv.Itoa(i), Agent: "a", State: rapid.SampledFrom(states()).Draw(t, "state"), Started: start(), Ended: start().Add(time.Second),
				LastFailure: rapid.SampledFrom([]*schemas.TaskFailed{nil, {Cause: schemas.FailureBlocked}, {Cause: schemas.FailureAgent}}).Draw(t, "failure"),
				Plan:        &schemas.PlannedTask{Seconds: rapid.IntRange(0, 100).Draw(t, "seconds")},
			}
			if task.State == workflow.TaskCompleted {
				completed++
			}
			run.Tasks = append(run.Tasks, task)
		}
		told := plan.Progress(run, schemas.ETASum, start().Add(time.Minute))
		place := map[string]string{}
		put := func(list string, tasks ...string) {
			for i, id := range tasks {
				if before, twice := place[id]; twice {
					t.Fatalf("%s is %s and %s", id, before, list)
				}
				if i > 0 && !precedes(tasks[i-1], id) {
					t.Fatalf("%s stands before %s", tasks[i-1], id)
				}
				place[id] = list
			}
		}
		put("completed", told.TasksCompleted...)
		put("pending", told.TasksPending...)
		put("failed", told.TasksFailed...)
		put("skipped", told.TasksSkipped...)
		for i := range told.TasksInProgress {
			put("in progress", told.TasksInProgress[i].TaskID)
		}
		for i := range told.TasksBlocked {
			put("blocked", told.TasksBlocked[i].TaskID)
		}
		for _, task := range run.Tasks {
			if got := place[task.ID]; got != listOf(task) {
				t.Fatalf("%s, which is %s %s, is listed as %q", task.ID, task.State, task.Failure().Cause, got)
			}
		}
		want := 0
		if len(run.Tasks) > 0 {
			want = completed * 100 / len(run.Tasks)
		}
		if told.ProgressPercentage != want || len(place) != len(run.Tasks) {
			t.Fatalf("%d %%, want %d; %d tasks of %d", told.ProgressPercentage, want, len(place), len(run.Tasks))
		}
	})
}

func precedes(a, b string) bool {
	first, _ := strconv.Atoi(a)
	second, _ := strconv.Atoi(b)
	return first < second
}

// listOf is where a task belongs.
func listOf(task *workflow.Task) string {
	switch task.State {
	case workflow.TaskCompleted:
		return "completed"
	case workflow.TaskRunning:
		return "in progress"
	case workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked:
		return "blocked"
	case workflow.TaskFailed:
		if task.Failure().Cause == schemas.FailureBlocked {
			return "blocked"
		}
		return "failed"
	case workflow.TaskSkipped, workflow.TaskCancelled:
		return "skipped"
	case workflow.TaskPending, workflow.TaskReady, workflow.TaskDue, workflow.TaskDispatched, workflow.TaskWaiting:
	}
	return "pending"
}

// TestEstimate_M35: both formulas, with nothing done, with something done faster
// or slower than estimated, and without estimates.
func TestEstimate_M35(t *testing.T) {
	t.Parallel()
	second := time.Second
	done := func(estimate int, took time.Duration) *workflow.Task {
		return &workflow.Task{State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{Seconds: estimate}, Started: start(), Ended: start().Add(took)}
	}
	open := func(id string, estimate int, after ...string) *workflow.Task {
		return &workflow.Task{ID: id, State: workflow.TaskPending, Plan: &schemas.PlannedTask{Task: id, Seconds: estimate, Dependencies: after}, Level: len(after)}
	}
	running := func(id string, estimate int, since time.Duration) *workflow.Task {
		task := open(id, estimate)
		task.State, task.Started = workflow.TaskRunning, start().Add(-since)
		return task
	}
	never := time.Duration(-1)
	const day = 864000
	for name, test := range map[string]struct {
		tasks     []*workflow.Task
		path, sum time.Duration
	}{
		"no tasks":                          {nil, never, never},
		"nothing is done":                   {[]*workflow.Task{open("a", 10), open("b", 20), open("c", 30, "a")}, 40 * second, 60 * second},
		"all is done":                       {[]*workflow.Task{done(10, second)}, never, never},
		"an estimate of 0":                  {[]*workflow.Task{open("a", 0), open("b", 0, "a")}, never, never},
		"a done one with an estimate of 0":  {[]*workflow.Task{done(0, time.Hour), open("a", 10)}, 10 * second, 10 * second},
		"a done one that was never seen":    {[]*workflow.Task{{State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{Seconds: 1}, Ended: start().Add(time.Hour)}, open("a", 10)}, 10 * second, 10 * second},
		"half as fast":                      {[]*workflow.Task{done(10, 20*second), open("a", 10), open("b", 20)}, 40 * second, 60 * second},
		"twice as fast":                     {[]*workflow.Task{done(10, 5*second), open("a", 10), open("b", 20)}, 10 * second, 15 * second},
		"the mean of two":                   {[]*workflow.Task{done(10, 10*second), done(10, 20*second), open("a", 10), open("b", 20)}, 30 * second, 45 * second},
		"under way":                         {[]*workflow.Task{running("a", 30, 10*second), open("b", 5)}, 20 * second, 25 * second},
		"under way for longer":              {[]*workflow.Task{running("a", 30, time.Minute), open("b", 5, "a")}, 5 * second, 5 * second},
		"failed ones do not remain":         {[]*workflow.Task{{ID: "x", State: workflow.TaskFailed, Plan: &schemas.PlannedTask{Seconds: 99}}, open("a", 10)}, 10 * second, 10 * second},
		"in no time at all":                 {[]*workflow.Task{done(10, 0), open("a", 10)}, 10 * time.Millisecond, 10 * time.Millisecond},
		"a thousand times slower, at most":  {[]*workflow.Task{done(1, 9*time.Hour), open("a", 10)}, 10_000 * second, 10_000 * second},
		"a hundred years, at most":          {append(slices.Repeat([]*workflow.Task{open("a", day)}, 400), done(1, 9*time.Hour)), day * 1000 * second, 100 * 365 * 24 * time.Hour},
		"a hundred years on a path as well": {append([]*workflow.Task{done(1, 9*time.Hour)}, path(200, day)...), 100 * 365 * 24 * time.Hour, 100 * 365 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for eta, want := range map[schemas.ETA]time.Duration{"": test.path, schemas.ETACriticalPath: test.path, schemas.ETASum: test.sum} {
				got := plan.EstimateCompletion(&workflow.Run{Tasks: test.tasks}, eta, start())
				if want == never {
					if !got.IsZero() {
						t.Errorf("%q: got %s", eta, got)
					}
				} else if got.Sub(start()) != want {
					t.Errorf("%q: got %s, want %s", eta, got.Sub(start()), want)
				}
			}
		})
	}
}

// path is a chain of open tasks.
func path(length, seconds int) []*workflow.Task {
	tasks := make([]*workflow.Task, length)
	for i := range tasks {
		planned := &schemas.PlannedTask{Task: strconv.Itoa(i), Seconds: seconds}
		if i > 0 {
			planned.Dependencies = []string{strconv.Itoa(i - 1)}
		}
		tasks[i] = &workflow.Task{ID: planned.Task, Plan: planned, State: workflow.TaskPending, Level: i}
	}
	return tasks
}
