package view_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestRunsThatWaitForRoomAreToldSo: a run that nobody works on says what it waits for, in a list and whole; one that somebody works on does not.
func TestRunsThatWaitForRoomAreToldSo(t *testing.T) {
	t.Parallel()
	task := func(id string, state workflow.TaskState, resources ...string) *workflow.Task {
		return &workflow.Task{ID: id, Agent: "clerk", State: state, Plan: &schemas.PlannedTask{TaskOptions: &schemas.TaskOptions{Resources: resources}}}
	}
	unserved := task("t2", workflow.TaskDispatched)
	unserved.Unserved = &workflow.Unserved{}
	until := time.Date(2026, 1, 3, 13, 0, 0, 0, time.Local)
	parked := task("t1", workflow.TaskRunning)
	parked.Asked = &workflow.Asked{WaitingUntil: &until}
	extraction := &workflow.Task{ID: "extract:t1:reader", Kind: schemas.TaskKindExtract, About: &schemas.TaskAbout{Task: "t1"}, Agent: "reader", State: workflow.TaskReady}
	for name, test := range map[string]struct {
		run   workflow.Run
		state string
		line  string // of the run as a whole
		waits []string
	}{
		"no room": {
			workflow.Run{Tasks: []*workflow.Task{task("t1", workflow.TaskCompleted), task("t2", workflow.TaskReady), task("t3", workflow.TaskPending)}},
			", waits for clerk to have room", "           waits for clerk to have room\n",
			[]string{"clerk"},
		},
		"somebody is at work": {
			workflow.Run{Tasks: []*workflow.Task{task("t1", workflow.TaskRunning), task("t2", workflow.TaskReady)}}, "", "           waits for clerk to have room\n", []string{"clerk"},
		},
		"another uses it": {
			workflow.Run{Tasks: []*workflow.Task{task("t1", workflow.TaskReady, "printer", "van")}}, ", waits until nobody uses: printer, van", "           waits until nobody uses: printer, van\n", nil,
		},
		"nobody serves it": {
			workflow.Run{Tasks: []*workflow.Task{unserved}}, ", nobody serves clerk, and no sign of life of it is on record", "           waits: nobody serves clerk, and no sign of life of it is on record\n", nil,
		},
		"a supervisor waits with it": {
			workflow.Run{Tasks: []*workflow.Task{parked, task("t2", workflow.TaskPending)}},
			", clerk says that it waits, first until 2026-01-03 13:00:00",
			"           clerk says that it waits, first until 2026-01-03 13:00:00\n", nil,
		},
		"a supervisor waits, and somebody is at work": {
			workflow.Run{Tasks: []*workflow.Task{parked, task("t2", workflow.TaskRunning)}}, "", "           clerk says that it waits, first until 2026-01-03 13:00:00\n", nil,
		},
		"between attempts": {workflow.Run{Tasks: []*workflow.Task{task("t1", workflow.TaskWaiting)}}, "", "", nil},
		"what the words say": {
			workflow.Run{Tasks: []*workflow.Task{task("t1", workflow.TaskReady)}, DecisionTasks: []*workflow.Task{extraction}},
			", waits for reader to have room", "           waits for reader to have room\n",
			[]string{"reader"},
		},
		"the answer": {
			workflow.Run{Delivery: &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, Agent: "mail", State: workflow.TaskReady}}, ", waits for mail to have room", "           waits for mail to have room\n", []string{"mail"},
		},
	} {
		run := &workflow.RunHistory{ID: "run-1", Run: test.run}
		run.Phase = workflow.PhaseExecuting
		if state := view.State(run); state != "executing"+test.state {
			t.Errorf("%s: %s", name, state)
		}
		told := view.Run(run, nil, "")
		if !strings.Contains(told, test.line) || test.line == "" && strings.Contains(told, "waits") {
			t.Errorf("%s:\n%s", name, told)
		}
		if waits := view.Awaited(run); strings.Join(waits, " ") != strings.Join(test.waits, " ") {
			t.Errorf("%s: %q is awaited", name, waits)
		}
	}
}

// TestFullAgentsSayWhy: an agent has no room because it works on as much as it can, or since it has failed and one request is to show whether it still does.
func TestFullAgentsSayWhy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	for want, breaker := range map[string]*schemas.Breaker{
		"clerk has no room: it works on 3 at a time": nil,
		"circuit breaker of clerk open since 2026-01-01 11:58:00, the next request is the probe; podium agents reset clerk closes it": {
			State: schemas.BreakerOpen, Since: now.Add(-2 * time.Minute), Until: now.Add(-time.Minute),
		},
		"circuit breaker of clerk open since 2026-01-01 11:58:00, next probe at 2026-01-01 12:01:00; " +
			"opened by failures in a row, the newest not started (podium runs show run-1); podium agents reset clerk closes it": {
			State: schemas.BreakerOpen, Since: now.Add(-2 * time.Minute), Until: now.Add(time.Minute),
			Opened: &schemas.BreakerFailure{Cause: string(schemas.FailureNotStarted), Run: "run-1"},
		},
		"circuit breaker of clerk open since 2026-01-01 11:58:00, a probe is under way until 2026-01-01 12:01:00; podium agents reset clerk closes it": {
			State: schemas.BreakerHalfOpen, Since: now.Add(-2 * time.Minute), Until: now.Add(time.Minute),
		},
	} {
		if told := view.Full("clerk", 3, breaker, now); told != want {
			t.Errorf("%q, want %q", told, want)
		}
	}
}

// TestRunsThatWaitForADecisionAreBlocked: a run is blocked while somebody decides about a failure and nothing of it goes on.
func TestRunsThatWaitForADecisionAreBlocked_M56(t *testing.T) {
	t.Parallel()
	task := func(state workflow.TaskState) *workflow.Task {
		return &workflow.Task{ID: string(state), Agent: "clerk", State: state, Plan: &schemas.PlannedTask{}}
	}
	asks := func(kind schemas.HumanTaskKind, upstream bool, people ...string) []*workflow.Inquiry {
		return []*workflow.Inquiry{{InquiryOpened: schemas.InquiryOpened{Run: 1, Inquiry: 1, Task: "blocked", Kind: kind, Upstream: upstream, People: people}}}
	}
	for want, run := range map[string]workflow.Run{
		"blocked, waits for a word from upstream": {Tasks: []*workflow.Task{task(workflow.TaskBlocked), task(workflow.TaskPending)}, Inquiries: asks(schemas.HumanTaskFailure, true)},
		"blocked, waits for people to decide":     {Tasks: []*workflow.Task{task(workflow.TaskBlocked), task(workflow.TaskCompleted)}, Inquiries: asks(schemas.HumanTaskFailure, false, "anna")},
		"executing, waits for people to decide":   {Tasks: []*workflow.Task{task(workflow.TaskBlocked), task(workflow.TaskRunning)}, Inquiries: asks(schemas.HumanTaskFailure, false, "anna")},
		"executing, waits for work of people":     {Tasks: []*workflow.Task{task(workflow.TaskWaitingInput)}, Inquiries: asks(schemas.HumanTaskWork, false, "anna")},
		"executing":                               {Tasks: []*workflow.Task{task(workflow.TaskBlocked), task(workflow.TaskRunning)}},
	} {
		run.Phase = workflow.PhaseExecuting
		if got := view.State(&workflow.RunHistory{ID: "run-1", Run: run}); got != want {
			t.Errorf("%q, and not %q", got, want)
		}
	}
}

// TestWaitsOfSupervisorsAreTold: whoever follows a run reads that an agent waits, and a sign of life that says nothing of it is no line.
func TestWaitsOfSupervisorsAreTold(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 1, 3, 13, 0, 0, 0, time.Local)
	lines := view.Lines(&schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{
		&schemas.TaskStarted{Run: 1, Task: "t1", WaitingUntil: until}, &schemas.TaskHeartbeat{Run: 1, Task: "t2", WaitingUntil: until}, &schemas.TaskHeartbeat{Run: 1, Task: "t2"},
	}}}})
	const told = ": the agent says that it waits, first until 2026-01-03 13:00:00"
	if want := []string{"t1" + told, "t2" + told}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	run := &workflow.RunHistory{Run: workflow.Run{Tasks: []*workflow.Task{{ID: "t1", Agent: "team", State: workflow.TaskRunning, Asked: &workflow.Asked{WaitingUntil: &until}}}}}
	if told := drawn(run, until); !strings.Contains(told, "team says that it waits, first until 2026-01-03 13:00:00") {
		t.Errorf("it is not drawn:\n%s", told)
	}
}
