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
		"fix1.a": "brought , again a b c d e o, effects o",
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

// TestRetryAfterReview: what a review had mended is brought, with who has mended it, and what mends a task stands for that, also where others
// build on it. What no round has passed is looked at again though all of it is done, unless somebody has taken it as it is.
func TestRetryAfterReview(t *testing.T) {
	t.Parallel()
	task := func(id, agent string, options *schemas.TaskOptions, dependencies ...string) *workflow.Task {
		return &workflow.Task{
			ID: id, Agent: agent, State: workflow.TaskCompleted, Result: schemas.Content{Result: schemas.Result{Text: "by " + id}},
			Plan: &schemas.PlannedTask{Task: id, TaskOptions: options, Dependencies: dependencies},
		}
	}
	mends := func(id, root, permit string) *workflow.Task {
		fix := task(id, "senior", &schemas.TaskOptions{Fixes: root}, root)
		fix.Permit = permit
		return fix
	}
	run := &workflow.Run{
		Number: 1, Changes: 1, Status: schemas.RunFailed, Review: &workflow.Review{Round: 2, Outcome: schemas.OutcomeFailed},
		Tasks: []*workflow.Task{
			task("code", "coder", nil), task("text", "writer", nil, "code"), mends("fix1.code", "code", ""), mends("fix1.text", "text", "p1"), task("c1.x", "coder", nil, "fix1.code", "code"),
		},
	}
	for _, c := range []struct {
		from, want string
	}{
		{"", "brought code text c1.x, again , effects , "},
		{"code", "brought , again code text c1.x, effects text, effects_may_repeat"},
		{"fix1.code", "brought , again code text c1.x, effects text, effects_may_repeat"},
		{"fix1.text", "brought code c1.x, again text, effects text, effects_may_repeat"},
		{"c1.x", "brought code text, again c1.x, effects , "},
		{"check:critic:1", "unknown"},
	} {
		made, there := recovery.RetryOf(run, c.from)
		got := "unknown"
		if there {
			got = "brought " + strings.Join(made.Brought, " ") + ", again " + strings.Join(made.Again, " ") + ", effects " + strings.Join(made.Effects, " ") + ", " + made.Fault(false)
		}
		if got != c.want {
			t.Errorf("from %q: %s", c.from, got)
		}
	}
	made, _ := recovery.RetryOf(run, "c1.x")
	if made.Tasks[0].Agent != "senior" || !slices.Equal(made.Tasks[2].Dependencies, []string{"code"}) {
		t.Errorf("%+v", made.Tasks)
	}
	if mended := recovery.Brings(2, run, "code"); mended.Result.Text != "by fix1.code" {
		t.Errorf("%+v", mended)
	}
	for _, over := range []struct {
		status  schemas.RunStatus
		outcome schemas.Outcome
		reviews bool
	}{
		{schemas.RunPartial, schemas.OutcomeFailed, true}, {schemas.RunCancelled, "", true}, {schemas.RunCompleted, schemas.OutcomeFailed, false}, {schemas.RunFailed, schemas.OutcomePassed, false},
	} {
		run.Status, run.Review = over.status, &workflow.Review{Round: 1, Outcome: over.outcome}
		if made, _ := recovery.RetryOf(run, ""); made.Reviews != over.reviews || (made.Fault(false) == "") != over.reviews {
			t.Errorf("%+v: %t, %s", over, made.Reviews, made.Fault(false))
		}
	}
}
