package plan_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"podium/schemas"
	"podium/supervisor/plan"
)

// states are all that a task can be in.
func states() []plan.TaskState {
	return []plan.TaskState{
		plan.TaskPending, plan.TaskReady, plan.TaskDispatched, plan.TaskRunning, plan.TaskWaiting,
		plan.TaskCompleted, plan.TaskFailed, plan.TaskSkipped, plan.TaskCancelled,
	}
}

// TestProgressPartition_M15: every task stands in exactly one list, in the order
// of the plan, and only what is completed counts (M-33).
func TestProgressPartition_M15(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := &plan.Run{Planned: start()}
		completed := 0
		for i := range rapid.IntRange(0, 40).Draw(t, "tasks") {
			task := &plan.Task{
				ID: strconv.Itoa(i), Agent: "a", State: rapid.SampledFrom(states()).Draw(t, "state"), Began: start(), Ended: start().Add(time.Second),
				Failure: rapid.SampledFrom([]schemas.FailureKind{"", schemas.FailureBlocked, schemas.FailureAgent}).Draw(t, "failure"),
				Plan:    &schemas.PlannedTask{Seconds: rapid.IntRange(0, 100).Draw(t, "seconds")},
			}
			if task.State == plan.TaskCompleted {
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
				t.Fatalf("%s, which is %s %s, is listed as %q", task.ID, task.State, task.Failure, got)
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
func listOf(task *plan.Task) string {
	switch task.State {
	case plan.TaskCompleted:
		return "completed"
	case plan.TaskRunning:
		return "in progress"
	case plan.TaskFailed:
		if task.Failure == schemas.FailureBlocked {
			return "blocked"
		}
		return "failed"
	case plan.TaskSkipped, plan.TaskCancelled:
		return "skipped"
	case plan.TaskPending, plan.TaskReady, plan.TaskDispatched, plan.TaskWaiting:
	}
	return "pending"
}

// TestEstimate_M35: both formulas, with nothing done, with something done faster
// or slower than estimated, and without estimates.
func TestEstimate_M35(t *testing.T) {
	t.Parallel()
	second := time.Second
	done := func(estimate int, took time.Duration) *plan.Task {
		return &plan.Task{State: plan.TaskCompleted, Plan: &schemas.PlannedTask{Seconds: estimate}, Began: start(), Ended: start().Add(took)}
	}
	open := func(id string, estimate int, after ...string) *plan.Task {
		return &plan.Task{ID: id, State: plan.TaskPending, Plan: &schemas.PlannedTask{Task: id, Seconds: estimate, Dependencies: after}, Level: len(after)}
	}
	running := func(id string, estimate int, since time.Duration) *plan.Task {
		task := open(id, estimate)
		task.State, task.Began = plan.TaskRunning, start().Add(-since)
		return task
	}
	never := time.Duration(-1)
	const day = 864000
	for name, test := range map[string]struct {
		tasks     []*plan.Task
		path, sum time.Duration
	}{
		"no tasks":                          {nil, never, never},
		"nothing is done":                   {[]*plan.Task{open("a", 10), open("b", 20), open("c", 30, "a")}, 40 * second, 60 * second},
		"all is done":                       {[]*plan.Task{done(10, second)}, never, never},
		"an estimate of 0":                  {[]*plan.Task{open("a", 0), open("b", 0, "a")}, never, never},
		"a done one with an estimate of 0":  {[]*plan.Task{done(0, time.Hour), open("a", 10)}, 10 * second, 10 * second},
		"a done one that was never seen":    {[]*plan.Task{{State: plan.TaskCompleted, Plan: &schemas.PlannedTask{Seconds: 1}, Ended: start().Add(time.Hour)}, open("a", 10)}, 10 * second, 10 * second},
		"half as fast":                      {[]*plan.Task{done(10, 20*second), open("a", 10), open("b", 20)}, 40 * second, 60 * second},
		"twice as fast":                     {[]*plan.Task{done(10, 5*second), open("a", 10), open("b", 20)}, 10 * second, 15 * second},
		"the mean of two":                   {[]*plan.Task{done(10, 10*second), done(10, 20*second), open("a", 10), open("b", 20)}, 30 * second, 45 * second},
		"under way":                         {[]*plan.Task{running("a", 30, 10*second), open("b", 5)}, 20 * second, 25 * second},
		"under way for longer":              {[]*plan.Task{running("a", 30, time.Minute), open("b", 5, "a")}, 5 * second, 5 * second},
		"failed ones do not remain":         {[]*plan.Task{{ID: "x", State: plan.TaskFailed, Plan: &schemas.PlannedTask{Seconds: 99}}, open("a", 10)}, 10 * second, 10 * second},
		"in no time at all":                 {[]*plan.Task{done(10, 0), open("a", 10)}, 10 * time.Millisecond, 10 * time.Millisecond},
		"a thousand times slower, at most":  {[]*plan.Task{done(1, 9*time.Hour), open("a", 10)}, 10_000 * second, 10_000 * second},
		"a hundred years, at most":          {append(slices.Repeat([]*plan.Task{open("a", day)}, 400), done(1, 9*time.Hour)), day * 1000 * second, 100 * 365 * 24 * time.Hour},
		"a hundred years on a path as well": {append([]*plan.Task{done(1, 9*time.Hour)}, path(200, day)...), 100 * 365 * 24 * time.Hour, 100 * 365 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for eta, want := range map[schemas.ETA]time.Duration{"": test.path, schemas.ETACriticalPath: test.path, schemas.ETASum: test.sum} {
				got := plan.Estimate(&plan.Run{Tasks: test.tasks}, eta, start())
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
func path(length, seconds int) []*plan.Task {
	tasks := make([]*plan.Task, length)
	for i := range tasks {
		planned := &schemas.PlannedTask{Task: strconv.Itoa(i), Seconds: seconds}
		if i > 0 {
			planned.Dependencies = []string{strconv.Itoa(i - 1)}
		}
		tasks[i] = &plan.Task{ID: planned.Task, Plan: planned, State: plan.TaskPending, Level: i}
	}
	return tasks
}
