package main

import (
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

const patternProfile = "../../deploy/profiles/pattern"

func pattern(t *testing.T, replaced ...string) *deployment {
	t.Helper()
	needs(t)
	return installTree(t, patternProfile, append(replaced, `http: {listen: "127.0.0.1:8080"}`, "", "${PATTERN_CHAT_TOKEN}", strings.Repeat("token", 8),
		"least: 0.2, deadline: 10s", "least: 0.2, deadline: 10m")...) // on a busy machine an agent says late how well it could do a task
}

// TestPatternProfile plays the scenarios of the profile: each agent on its real program.
func TestPatternProfile(t *testing.T) {
	t.Parallel()
	i := pattern(t)
	i.playAll("pattern", patternProfile)
}

// TestPatternReviews: what the first round finds goes to who has made it, and the second round passes. A question of one task is not reviewed. Whom the
// plan suggests is taken, and the others are chosen by their scores.
func TestPatternReviews_P03_P17(t *testing.T) {
	t.Parallel()
	i := pattern(t)
	i.up()
	run, _ := i.answered("--profile", "pattern", "Research the launch of Halo by our competitor Nordlicht, analyze its impact on the market, and draft a memo")
	want := []string{"research researcher completed", "analysis analyst completed", "code coder completed", "memo writer completed", "fix1.memo writer completed"}
	if got := did(&run); !slices.Equal(got, want) || run.Status != schemas.RunCompleted {
		t.Errorf("%s: %q", run.Status, got)
	}
	builds := map[string][]string{"research": nil, "analysis": {"research"}, "code": {"research"}, "memo": {"research", "analysis", "code"}}
	for _, task := range run.Tasks[:min(4, len(run.Tasks))] {
		if got := task.Dependencies(); !slices.Equal(got, builds[task.ID]) {
			t.Errorf("%s builds on %q", task.ID, got)
		}
	}
	told := i.podium("runs", "show", run.ID).succeeds(t).stdout + i.podium("runs", "show", run.ID, "-o", "json").succeeds(t).stdout
	for _, want := range []string{"The figure 59.7 is in no result.", "which reaches the floor of 0.5.", "The highest score decides. The score of analyst is "} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told of the run\n%s", want, told)
		}
	}
	requests := 0
	for task := range run.All {
		if !task.NotifiesPeople() {
			requests += task.Attempt
		}
	}
	if used, writer := run.Account.Used("").Tokens, run.Account.Used("writer").Tokens; used != int64(2000*requests) || writer == 0 || writer >= used {
		t.Errorf("%d tokens are counted for %d requests, %d of them the writer's", used, requests, writer)
	}
	plain, _ := i.answered("--profile", "pattern", "What do the collected sources say of the warranty of Halo?")
	if got := did(&plain); len(got) != 1 || slices.ContainsFunc(plain.DecisionTasks, func(task *workflow.Task) bool { return strings.HasPrefix(task.ID, "check:") }) {
		t.Errorf("a question is reviewed: %q", got)
	}
	i.stop()
	i.verify()
}

// TestPatternWithoutSlip: a draft that is right passes in the first round, so that it is the review that finds the figure.
func TestPatternWithoutSlip(t *testing.T) {
	t.Parallel()
	i := pattern(t, ", arguments: {slip: true}", "")
	i.up()
	run, answer := i.answered("--profile", "pattern", "Research the launch of Halo by our competitor Nordlicht, analyze its impact on the market, and draft a memo")
	if len(run.Tasks) != 4 || !strings.Contains(answer, "our share of the market was 40.3 percent") {
		t.Errorf("%q\n%s", did(&run), answer)
	}
	i.stop()
	i.verify()
}
