package recovery_test

import (
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// TestRetryOf: what is completed is brought, unless it builds on what is done again. What has acted outside and is done again is told. What another plan has replaced, and what was to mend something, is
// no part of it, and nothing builds on it.
func TestRetryOf(t *testing.T) {
	t.Parallel()
	task := func(id string, state workflow.TaskState, dependencies ...string) *workflow.Task {
		return &workflow.Task{ID: id, Agent: "echo", State: state, Plan: &schemas.PlannedTask{Task: id, Dependencies: dependencies}}
	}
	done, failed, skipped := workflow.TaskCompleted, workflow.TaskFailed, workflow.TaskSkipped
	replaced, mends, outside := task("x", failed), task("fix1.a", done, "a"), task("o", done, "b")
	replaced.Replaced, outside.Permit = true, "p1"
	mends.Plan.TaskOptions = &schemas.TaskOptions{Fixes: "a"}
	run := &workflow.Run{Number: 3, Tasks: []*workflow.Task{
		task("a", done), task("b", done, "a"), task("c", failed, "b"), task("d", skipped, "c"), task("e", done, "c", "x"), outside, replaced, mends,
	}}
	for from, want := range map[string]string{
		"":       "brought a b o, again c d e, effects ",
		"b":      "brought a, again b c d e o, effects o",
		"o":      "brought a b, again c d e o, effects o",
		"a":      "brought , again a b c d e o, effects o",
		"x":      "unknown",
		"fix1.a": "unknown",
		"reply":  "unknown",
	} {
		made, there := recovery.RetryOf(run, from)
		got := "unknown"
		if there {
			got = "brought " + strings.Join(made.Brought, " ") + ", again " + strings.Join(made.Again, " ") + ", effects " + strings.Join(made.Effects, " ")
		}
		if got != want {
			t.Errorf("from %q: %s", from, got)
		}
		for i := range made.Tasks {
			if made.Tasks[i].Routed != slices.Contains(made.Brought, made.Tasks[i].Task) || slices.Contains(made.Tasks[i].Dependencies, "x") {
				t.Errorf("from %q: %+v", from, made.Tasks[i])
			}
		}
	}
	whole, _ := recovery.RetryOf(&workflow.Run{Tasks: []*workflow.Task{task("a", done)}}, "")
	outsideAgain, _ := recovery.RetryOf(run, "o")
	never, _ := recovery.RetryOf(&workflow.Run{}, "")
	if whole.Fault(true) != schemas.RetryNothing || outsideAgain.Fault(false) != schemas.RetryEffects || outsideAgain.Fault(true) != "" || never.Fault(false) != "" {
		t.Errorf("%q, %q, %q, %q", whole.Fault(true), outsideAgain.Fault(false), outsideAgain.Fault(true), never.Fault(false))
	}
}

// TestRetryBringsWhatWasMended: a check has failed, what it has looked at was mended, and the check has failed again. What is brought is what was mended.
func TestRetryBringsWhatWasMended(t *testing.T) {
	t.Parallel()
	task := func(id, result string, state workflow.TaskState, options *schemas.TaskOptions) *workflow.Task {
		return &workflow.Task{ID: id, State: state, Result: schemas.Content{Result: schemas.Result{Text: result}}, Plan: &schemas.PlannedTask{Task: id, TaskOptions: options}}
	}
	run := &workflow.Run{Number: 1, Changes: 1, Tasks: []*workflow.Task{
		task("a", "wrong", workflow.TaskCompleted, nil), task("check", "", workflow.TaskFailed, nil),
		task("c1.fix.a", "right", workflow.TaskCompleted, &schemas.TaskOptions{Fixes: "a", Recovers: "check"}),
	}}
	made, _ := recovery.RetryOf(run, "")
	brought := recovery.Brings(2, run, "a")
	if !slices.Equal(made.Brought, []string{"a"}) || brought.Task != "a" || brought.Result.Text != "right" {
		t.Errorf("%v, %+v", made.Brought, brought)
	}
}
