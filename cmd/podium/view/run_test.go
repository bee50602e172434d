package view_test

import (
	"strings"
	"testing"
	"time"

	"podium/cmd/podium/chronicle"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// What became of an answer beside its delivery is told, and what a stranger has
// written of it stays on one line.
func TestWithheldAndReturnedAnswersAreTold_I20(t *testing.T) {
	t.Parallel()
	told := view.Run(&workflow.RunHistory{
		ID: "run-1", Withheld: &schemas.ReplyWithheld{Run: 1, Reason: schemas.WithheldUnproven}, Bounces: []schemas.DeliveryBounced{
			{Run: 1, Action: "delayed", Status: "4.4.1"}, {Run: 1, Status: "5.1.1\nstate completed", Failed: true},
		}, Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Reason: schemas.StopCompleted},
	}, nil,

		"42")

	for _, line := range []string{
		"withheld  sender unproven; nobody vouches for who wrote, and the profile answers nobody then (conversation.answer)",
		"reported  delivery delayed (4.4.1)",
		"reported  delivery returned (5.1.1 state completed), it has not arrived",
	} {
		if !strings.Contains(told, line+"\n") {
			t.Errorf("%q is not in\n%s", line, told)
		}
	}
	record := schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{
		&schemas.ReplyWithheld{Run: 1, Reason: schemas.WithheldUnproven},
		&schemas.DeliveryBounced{Run: 1, Action: "failed", Failed: true},
	}}}}
	if lines := view.Lines(&record); len(lines) != 2 || lines[0] != "answer withheld: sender unproven" || lines[1] != "report: delivery failed, it has not arrived" {
		t.Errorf("%q", lines)
	}
}

// TestDelayedAnswersAreToldUntilWhen: an answer that waits for the budget of its conversation, or for its next attempt, is told with the moment.
func TestDelayedAnswersAreToldUntilWhen(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 1, 1, 13, 0, 0, 0, time.Local)
	delayed := workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver, Agent: "mail", State: workflow.TaskWaiting, Due: until}
	refused := delayed
	refused.Attempt, refused.LastFailure = 1, &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureAgent, Detail: "has had as many", Action: schemas.RecoveryRetry, RetryAt: until}
	for want, task := range map[string]*workflow.Task{
		"waits until 2026-01-01 13:00:00: its conversation has had as many answers in an hour as it may (conversation.replies_per_hour)": &delayed,
		"next attempt at 2026-01-01 13:00:00": &refused,
	} {
		told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseAssembling, Status: schemas.RunCompleted, Delivery: task}}, nil, "42")
		if !strings.Contains(told, "\n           "+want+"\n") {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
	record := schemas.Record{Transitions: []schemas.Transition{{Facts: []schemas.Fact{&schemas.AnswerDelayed{Run: 1, Agent: "mail", Until: until}}}}}
	if lines := view.Lines(&record); len(lines) != 1 || lines[0] != "answer waits until 2026-01-01 13:00:00: reply budget" {
		t.Errorf("%q", lines)
	}
}

// TestAttemptsAreToldWithTheirTimes: each attempt of a task is told with when it was asked for, how long that took, and what it has failed by, on one line.
func TestAttemptsAreToldWithTheirTimes(t *testing.T) {
	t.Parallel()
	second := func(n int) time.Time { return time.Date(2026, 1, 1, 13, 0, n, 0, time.Local) }
	kept := &chronicle.Run{Attempts: []chronicle.Attempt{
		{Task: "t1", Attempt: 1, Agent: "clerk", Asked: second(0), Begun: second(1), Ended: second(3), Outcome: chronicle.AttemptFailed, Cause: schemas.FailureAgent, Detail: "no\npaper"},
		{Task: "t1", Attempt: 1, Asked: second(4), Ended: second(4), Outcome: chronicle.AttemptFailed, Cause: schemas.FailureUnavailable},
		{Task: "t1", Attempt: 2, Agent: "clerk", Asked: second(5), Ended: second(7), Outcome: chronicle.AttemptFailed, Cause: schemas.FailureNotStarted},
		{Task: "t1", Attempt: 3, Agent: "clerk", Asked: second(8), Begun: second(9), Outcome: chronicle.AttemptUnderWay},
	}}
	run := workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunCompleted, Tasks: []*workflow.Task{{ID: "t1", Agent: "clerk", State: workflow.TaskRunning}}, Delivery: &workflow.Task{ID: schemas.DeliveryTask, Kind: schemas.TaskKindDeliver}}
	told := view.Run(&workflow.RunHistory{ID: "run-1", Started: second(0), Settled: second(10), Ended: second(12), Run: run}, kept, "42")
	for _, line := range []string{
		"settled   2026-01-01 13:00:10, after 10s", "ended     2026-01-01 13:00:12", "took      12s",
		"           2026-01-01 13:00:00 attempt 1, waited 1s, worked 2s: failed, agent failed: no paper",
		"           2026-01-01 13:00:04 not asked: failed, unavailable",
		"           2026-01-01 13:00:05 attempt 2, took 2s: failed, not started",
		"           2026-01-01 13:00:08 attempt 3, waited 1s: under way",
	} {
		if !strings.Contains(told, line+"\n") {
			t.Errorf("%q is not in\n%s", line, told)
		}
	}
}

// A file that an agent has named and may not pass on is told, on one line.
func TestFilesThatAreLeftOutAreTold(t *testing.T) {
	t.Parallel()
	told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseComplete, Tasks: []*workflow.Task{
		{ID: "t1", Agent: "echo", State: workflow.TaskCompleted, Unproven: []string{"stolen\nfile.txt"}},
	}}}, nil,

		"")

	if line := "           left out: stolen file.txt (echo has not shown that it is its own or was given to it)\n"; !strings.Contains(told, line) {
		t.Errorf("%q is not in\n%s", line, told)
	}
}

// A failure is told of the attempt that has failed, whatever goes on since.
func TestFailuresAreToldOfTheirAttempt(t *testing.T) {
	t.Parallel()
	malformed := workflow.Task{
		ID: "t1", Agent: "echo", State: workflow.TaskRunning, Attempt: 2, LastFailure: &schemas.TaskFailed{Attempt: 1, Cause: schemas.FailureMalformed, Detail: "status: blocked", Action: schemas.RecoveryRetry},
	}
	silent := workflow.Task{
		ID: "t1", Agent: "echo", State: workflow.TaskDispatched, Attempt: 3, LastFailure: &schemas.TaskFailed{Attempt: 2, Cause: schemas.FailureTimeout, Action: schemas.RecoveryRetryLonger},
	}
	unasked := workflow.Task{ID: "t1", Agent: "echo", State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{Cause: schemas.FailureUnavailable}}
	for want, task := range map[string]workflow.Task{
		"attempt 1: malformed status: blocked (retry)":   malformed,
		"attempt 2: timeout (retry with longer timeout)": silent,
		"unavailable": unasked,
	} {
		told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{Tasks: []*workflow.Task{&task}}}, nil, "")
		if !strings.Contains(told, "\n           "+want+"\n") {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
}

// TestOnlyWhoIsAskedIsNamed: that others are asked about a failure is said where they are, and not where a failure is put into that class and nobody is.
func TestOnlyWhoIsAskedIsNamed(t *testing.T) {
	t.Parallel()
	for want, task := range map[string]workflow.Task{
		"attempt 1: timeout":                       {LastFailure: &schemas.TaskFailed{Action: schemas.RecoveryEscalateToCoordinator}},
		"attempt 1: timeout ":                      {LastFailure: &schemas.TaskFailed{Action: schemas.RecoveryEscalateToPlanner, Unrecovered: schemas.WayHuman}},
		"attempt 1: timeout (escalate to human)":   {LastFailure: &schemas.TaskFailed{Action: schemas.RecoveryEscalateToHuman, Recovering: schemas.WayHuman}},
		"attempt 1: timeout (escalate to planner)": {LastFailure: &schemas.TaskFailed{Action: schemas.RecoveryEscalateToPlanner}, Judged: true},
		"attempt 1: timeout (skip task)":           {LastFailure: &schemas.TaskFailed{Action: schemas.RecoverySkip}},
	} {
		task.ID, task.State, task.LastFailure.Attempt, task.LastFailure.Cause = "t1", workflow.TaskFailed, 1, schemas.FailureTimeout
		told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{Tasks: []*workflow.Task{&task}}}, nil, "")
		if !strings.Contains(told, "\n           "+strings.TrimSpace(want)+"\n") {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
}

// TestWhatIsNeededIsTold: what an agent says that a failure needs stands below it, but for what every failure says.
func TestWhatIsNeededIsTold(t *testing.T) {
	t.Parallel()
	failed := func(details string) workflow.Task {
		return workflow.Task{ID: "route:t1:model", Agent: "model", State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{
			Attempt: 1, Cause: schemas.FailurePermanent, Detail: "The model does not take the request.",
			Findings: &schemas.Findings{Issues: []schemas.Issue{{ResolutionDetails: details}, {ResolutionDetails: details}}},
		}}
	}
	for details, want := range map[string]int{"HTTP 401: look\nat key": 1, schemas.DetailsDeferred: 0, schemas.DetailsEscalated: 0, "": 0} {
		task := failed(details)
		told := view.Run(&workflow.RunHistory{ID: "run-1", Run: workflow.Run{DecisionTasks: []*workflow.Task{&task}}}, nil, "")
		if strings.Count(told, "needs:") != want || want > 0 && !strings.Contains(told, "\n           needs: HTTP 401: look at key\n") {
			t.Errorf("%q is told as\n%s", details, told)
		}
	}
}

// TestDoubtIsTold: whoever looks at a run reads why nobody was answered, and where to
// change that; no moment is named at which it would be otherwise.
func TestDoubtIsTold(t *testing.T) {
	t.Parallel()
	for reason, want := range map[schemas.WithheldReason]string{
		schemas.WithheldUnproven: "withheld  sender unproven; ", schemas.WithheldRefuted: "withheld  sender refuted; ",
	} {
		told := view.Run(&workflow.RunHistory{ID: "run-1", Withheld: &schemas.ReplyWithheld{Run: 1, Reason: reason}}, nil, "")
		if !strings.Contains(told, want) || !strings.Contains(told, "conversation.answer") || strings.Contains(told, "may go out") {
			t.Errorf("%s: %s", reason, told)
		}
	}
}

// What was asked is never told as nothing.
func TestAskedIsNeverEmpty(t *testing.T) {
	t.Parallel()
	for want, run := range map[string]*workflow.RunHistory{
		"Pumps":                          {Run: workflow.Run{Message: schemas.Incoming{Subject: "Pumps", Text: schemas.Content{Result: schemas.Result{Text: "How many?"}}}}},
		"How many?":                      {Run: workflow.Run{Message: schemas.Incoming{Subject: " ", Text: schemas.Content{Result: schemas.Result{Text: "How\nmany?"}}}}},
		"(5000 bytes of words)":          {Run: workflow.Run{Message: schemas.Incoming{Text: schemas.Content{Sequence: 7, Size: 5000}}}},
		"(a plan of 2 tasks by planner)": {Run: workflow.Run{Tasks: []*workflow.Task{{}, {}}, Message: schemas.Incoming{Upstream: &schemas.Upstream{From: "planner", Planned: true}}}},
		"(a task by planner)":            {Run: workflow.Run{Message: schemas.Incoming{Upstream: &schemas.Upstream{From: "planner"}}}},
		"(no words)":                     {Run: workflow.Run{Message: schemas.Incoming{Text: schemas.Content{Sequence: 7}}}},
	} {
		if got := view.Asked(run); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if told := view.Run(run, nil, ""); !strings.Contains(told, "asked     ") {
			t.Errorf("nothing is said to be asked:\n%s", told)
		}
	}
}

// Why a plan was refused and a run has failed is told, in the picture as in the text and to
// programs.
func TestWhyIsTold(t *testing.T) {
	t.Parallel()
	run := &workflow.RunHistory{
		ID: "run-1", Run: workflow.Run{Phase: workflow.PhaseComplete, Status: schemas.RunFailed, Reason: schemas.StopTaskFailed, PlanFaults: []schemas.Reason{schemas.Because(schemas.PlanHasCycle, "tasks", "a")}, Error: &schemas.Error{Reasons: []schemas.Reason{schemas.Because(schemas.RunTaskFailed, "task", "t1", "agent", "echo", "cause", "agent_refused")}}, Tasks: []*workflow.Task{{ID: "t1", Agent: "echo", State: workflow.TaskFailed, LastFailure: &schemas.TaskFailed{Cause: schemas.FailurePermanent, Detail: "no such formula", Attempt: 1}}}},
	}
	for name, told := range map[string]string{
		"the text": view.Run(run, nil, ""), "the picture": drawn(run, time.Time{}), "for programs": strings.Join(view.Why(run), "\n"),
	} {
		for _, want := range []string{"These tasks depend on each other in a circle: a.", "The task t1 of the agent echo has failed: agent_refused."} {
			if !strings.Contains(told, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, told)
			}
		}
	}
	if drawn := drawn(run, time.Time{}); !strings.Contains(drawn, "attempt 1: agent_refused no such formula") {
		t.Errorf("the picture does not say why its task failed:\n%s", drawn)
	}
	run.Phase = workflow.PhaseExecuting // by the earlier attempt, which says nothing yet
	if why := view.Why(run); len(why) != 1 {
		t.Errorf("while it goes on: %q", why)
	}
}
