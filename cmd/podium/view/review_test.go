package view_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/cmd/podium/chronicle"
	"podium/cmd/podium/view"
	"podium/schemas"
	"podium/schemas/workflow"
)

// reviewed is a run whose work was looked at in a round of each kind, the last of which has come to that.
func reviewed() (*workflow.RunHistory, *chronicle.Run) {
	check := func(id string, round int32, state workflow.TaskState, data string) *workflow.Task {
		agent := strings.Split(id, ":")[1]
		task := &workflow.Task{ID: id, Agent: agent, Kind: schemas.TaskKindCheck, Round: round, State: state}
		task.Result.Data = jsontext.Value(data)
		return task
	}
	failed := check("check:slow:1", 1, workflow.TaskFailed, "")
	failed.LastFailure = &schemas.TaskFailed{Attempt: 2, Cause: schemas.FailureTimeout}
	run := &workflow.RunHistory{ID: "run-1", Run: workflow.Run{
		Phase:  workflow.PhaseReviewing,
		Merged: []workflow.Merged{{Question: "judge:merge:1", MergedFile: schemas.MergedFile{Path: "src/a.py"}}, {Question: "judge:merge:1", MergedFile: schemas.MergedFile{Path: "b.py"}}},
		DecisionTasks: []*workflow.Task{
			{ID: "judge:merge:1", Agent: "merger", Kind: schemas.TaskKindMerge, Round: 3, State: workflow.TaskCompleted},
			check("check:lint:1", 1, workflow.TaskCompleted, `{"status":"failed","issues":[{"severity":"error","message":"bad"},{"severity":"warning","message":"odd"}]}`),
			check("check:spell:1", 1, workflow.TaskCompleted, `{"status":"passed","issues":[{"severity":"warning","message":"odd"}]}`),
			failed,
			check("check:critic:2", 2, workflow.TaskCompleted, `{"tasks":[]}`),
			check("check:lint:3", 3, workflow.TaskCompleted, `{"status":"passed"}`),
		},
		Tasks: []*workflow.Task{
			{ID: "code", Agent: "coder", State: workflow.TaskCompleted, Plan: &schemas.PlannedTask{Task: "code"}},
			{ID: "fix1.code", Agent: "coder", State: workflow.TaskRunning, Plan: &schemas.PlannedTask{Task: "fix1.code"}},
		},
	}}
	return run, &chronicle.Run{Rounds: []chronicle.Round{
		{
			Number: 1, Outcome: schemas.OutcomeFailed,
			Issues: []schemas.ReviewIssue{
				{Check: "lint", Severity: schemas.ValidationError, Message: "bad\nstate completed", File: "a.py", Line: 2, Task: "code"},
				{Severity: schemas.ValidationError, Message: "The deliverable is missing."},
				{Check: "spell", Severity: schemas.ValidationWarning, Message: "odd", File: "a.py"},
			},
			Change: &schemas.PlanChanged{Tasks: []schemas.PlannedTask{{Task: "fix1.code", TaskOptions: &schemas.TaskOptions{Fixes: "code"}}}},
		},
		{Number: 2, Outcome: schemas.OutcomeFailed, Wanting: []string{"check:critic:2"}, Change: &schemas.PlanChanged{Tasks: []schemas.PlannedTask{{Task: "c2.more"}}}},
		{Number: 3, Outcome: schemas.OutcomePassed},
	}}
}

// TestReviewIsTold: each round of review is told in its order, with what the checks say, what was found, whose it is to mend, and what has come of it. A check that has
// found errors is not marked as what is right.
func TestReviewIsTold(t *testing.T) {
	t.Parallel()
	run, kept := reviewed()
	told := view.Run(run, kept, "")
	for _, line := range []string{
		"✗ check:lint:1 lint       completed  1 error, 1 warning",
		"✓ check:spell:1 spell      completed  1 warning",
		"✗ check:critic:2 critic     completed  wants more to be done",
		"✓ check:lint:3 lint       completed  passed",
	} {
		if !strings.Contains(told, line+"\n") {
			t.Errorf("%q is not in\n%s", line, told)
		}
	}
	if want := `✗ 1        review     failed     back to work
           check by lint: failed, 1 error, 1 warning
           check by spell: passed, 1 warning
           check by slow: could not be made, timeout
           a.py:2: error: bad state completed (to mend: code by coder)
           error: The deliverable is missing. (nobody's to mend)
           a.py: warning: odd
           mends code: fix1.code by coder, running
✗ 2        review     failed     back to work
           check by critic: wants more to be done
           new: c2.more
✓ 3        review     passed     
           merged by merger: src/a.py, b.py
           check by lint: passed
`; !strings.Contains(told, want) {
		t.Errorf("want\n%sin\n%s", want, told)
	}
}

// TestNobodyMendsAnEffect: what was found in what has acted outside is told as nobody's to do again, by a run that has none do it.
func TestNobodyMendsAnEffect(t *testing.T) {
	t.Parallel()
	run, kept := reviewed()
	run.Tasks[0].Permit = "p1"
	if told, want := view.Run(run, kept, ""), "bad state completed (of code by coder, which has acted outside: nobody does that again)\n"; !strings.Contains(told, want) {
		t.Errorf("%q is not in\n%s", want, told)
	}
}

// TestOutcomeOfARoundIsTold: what has come of a round is told, whoever has decided that.
func TestOutcomeOfARoundIsTold(t *testing.T) {
	t.Parallel()
	said := func(choice schemas.InquiryChoice) *workflow.Inquiry {
		asked := &workflow.Inquiry{InquiryOpened: schemas.InquiryOpened{Inquiry: 4, Task: schemas.ReviewInput(1), Kind: schemas.HumanTaskReview}}
		if choice != "" {
			asked.Answered = &schemas.InquiryAnswered{Choice: choice}
		}
		return asked
	}
	for want, c := range map[string]struct {
		run   workflow.Run
		round chronicle.Round
	}{
		"· 1        review     under way  ":          {round: chronicle.Round{}},
		"– 1        review     cut short  cancelled": {run: workflow.Run{Status: schemas.RunCancelled, Reason: schemas.StopCancelled}},
		"✗ 1        review     failed     failed (review_failed)": {
			run: workflow.Run{Status: schemas.RunFailed, Reason: schemas.StopReviewFailed}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     partial (review_failed)": {
			run: workflow.Run{Status: schemas.RunPartial, Reason: schemas.StopReviewFailed}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     taken as it is": {
			run: workflow.Run{Status: schemas.RunCompleted, Inquiries: []*workflow.Inquiry{said(schemas.ChoiceSkip)}}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     somebody has given the answer": {
			run: workflow.Run{Status: schemas.RunCompleted, Inquiries: []*workflow.Inquiry{said(schemas.ChoiceAnswer)}}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     looked at again": {
			run: workflow.Run{Inquiries: []*workflow.Inquiry{said(schemas.ChoiceRetry)}}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     question 4 asks what is to be done": {
			run: workflow.Run{Inquiries: []*workflow.Inquiry{said("")}}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✗ 1        review     failed     judge is asked what is to be done": {
			run: workflow.Run{DecisionTasks: []*workflow.Task{{ID: "judge:failure:1", Agent: "judge", Kind: schemas.TaskKindEvaluate}}}, round: chronicle.Round{Outcome: schemas.OutcomeFailed},
		},
		"✓ 1        review     passed     all steps are taken, and nothing more is done": {round: chronicle.Round{Outcome: schemas.OutcomePassed, Forced: true}},
	} {
		c.round.Number = 1
		told := view.Run(&workflow.RunHistory{ID: "run-1", Run: c.run}, &chronicle.Run{Rounds: []chronicle.Round{c.round}}, "")
		if !strings.Contains(told, "\n"+want+"\n") {
			t.Errorf("%q is not in\n%s", want, told)
		}
	}
}

// TestEveryMendedFailureIsTold: of a task that others mend again and again each failure is told, with what it has found, and who was to mend it.
func TestEveryMendedFailureIsTold(t *testing.T) {
	t.Parallel()
	failed := func(attempt int, action schemas.Recovery) *schemas.TaskFailed {
		return &schemas.TaskFailed{Task: "test", Attempt: attempt, Cause: schemas.FailureVerdict, Detail: "it is 0", Action: action}
	}
	second := failed(2, schemas.RecoveryRequestFix)
	second.Findings = &schemas.Findings{ValidationResults: []schemas.ValidationResult{
		{Status: schemas.ValidationFailed, Issues: []schemas.ValidationIssue{{Severity: schemas.ValidationError, Message: "no sum", File: "a.py", Line: 3}}},
	}}
	run := &workflow.RunHistory{ID: "run-1", Run: workflow.Run{Tasks: []*workflow.Task{
		{ID: "test", Agent: "tests", State: workflow.TaskFailed, Attempt: 3, Plan: &schemas.PlannedTask{}, LastFailure: failed(3, schemas.RecoveryEscalateToCoordinator)},
		{ID: "twice", Agent: "tests", State: workflow.TaskCompleted, Attempt: 2, Plan: &schemas.PlannedTask{}, LastFailure: failed(1, schemas.RecoveryRequestFix)},
	}}}
	first := failed(1, schemas.RecoveryRequestFix)
	other := *first
	other.Task = "twice"
	told := view.Run(run, &chronicle.Run{Mendings: []chronicle.Mending{{Failed: first, By: []string{"c1.fix.code"}}, {Failed: second, By: []string{"c2.fix.code", "c2.fix.text"}}, {Failed: &other}}}, "")
	if want := `           attempt 1: verdict it is 0 (request fix); to mend it: c1.fix.code
           attempt 2: verdict it is 0 (request fix); to mend it: c2.fix.code, c2.fix.text
             a.py:3: error: no sum
           attempt 3: verdict it is 0`; !strings.Contains(told, want) {
		t.Errorf("want\n%s\nin\n%s", want, told)
	}
	if strings.Count(told, "(request fix)") != 3 {
		t.Errorf("a failure is told twice:\n%s", told)
	}
}
