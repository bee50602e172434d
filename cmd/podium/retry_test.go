package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// retryConfig has a task that works, one that builds on it and fails while there is a file, and one behind it that acts outside. Each keeps the effects that it was asked for.
const retryConfig = `
agents:
  measure: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo "$PODIUM_EFFECT" >>"$DONE/measure"; echo 42'], env: ["DONE=%[1]s"]}
  judge: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo "$PODIUM_EFFECT" >>"$DONE/judge"; test ! -e "$DONE/broken" && echo fine'], env: ["DONE=%[1]s"]}
  order: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo "$PODIUM_EFFECT" >>"$DONE/order"; echo ordered'], env: ["DONE=%[1]s"], side_effects: external}
profiles:
  desk:
    language: en
    agents: [measure, judge, {name: order, on_tainted: allow}]
    routers: [{kind: assigned}]
    execution: {mode: dag}
    retry: {attempts: 1}
    planner:
      kind: template
      templates:
        - name: three
          tasks:
            - {task: measure, description: Measure., agent: measure}
            - {task: judge, description: Judge., agent: judge, dependencies: [measure]}
            - {task: order, description: Order., agent: order, dependencies: [judge]}
chat: {channels: {web: {profile: desk, secret: "` + webSecret + `"}}}
`

// TestRunIsRetried: a run that has failed is begun anew with the results that it has, as a run of its own. What was completed is not done again, what was not is, once, and what was done outside
// is not done twice unless somebody says so. It is on record, and decided again alike.
func TestRunIsRetried(t *testing.T) {
	t.Parallel()
	done := t.TempDir()
	broken := filepath.Join(done, "broken")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	effects := func(agent string) []string {
		body, err := os.ReadFile(filepath.Join(done, agent))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(body))
	}
	i := install(t, fmt.Sprintf(retryConfig, done))
	i.up()
	if sent := i.podium("send", "Please go.", "--wait", "--timeout", "1m"); sent.code == exitOK {
		t.Fatalf("it is done: %s", sent.stdout)
	}
	first := i.runs()[0]
	within(t, patience, "it has ended", func() bool { return i.run(first.ID).Phase == workflow.PhaseComplete })
	if said := i.podium("runs", "retry", first.ID, "--from", "nothing"); said.code != exitFailed || !strings.Contains(said.stderr, `no task "nothing"`) {
		t.Errorf("a task that is not there: %d %s", said.code, said.stderr)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	retry := func(arguments ...string) retried {
		t.Helper()
		var told retried
		said := i.podium(append([]string{"runs", "retry", "-o", "json"}, arguments...)...).succeeds(t)
		if err := json.Unmarshal([]byte(said.stdout), &told); err != nil {
			t.Fatalf("%v in %s", err, said.stdout)
		}
		within(t, patience, told.Retry+" has ended", func() bool { return i.run(told.Retry).Phase == workflow.PhaseComplete })
		return told
	}
	told := retry(first.ID)
	if !slices.Equal(told.Brought, []string{"measure"}) || !slices.Equal(told.Again, []string{"judge", "order"}) || len(told.Effects) > 0 || !told.Answered {
		t.Errorf("it says %+v", told)
	}
	second := i.run(told.Retry)
	if second.Status != schemas.RunCompleted || len(effects("measure")) != 1 || len(effects("judge")) != 2 || len(effects("order")) != 1 {
		t.Errorf("%s ends %s (%s); %q, %q, %q", second.ID, second.Status, second.Reason, effects("measure"), effects("judge"), effects("order"))
	}
	if said := i.podium("runs", "retry", second.ID); said.code != exitFailed || !strings.Contains(said.stderr, "--from TASK") {
		t.Errorf("all is completed: %d %s", said.code, said.stderr)
	}
	if said := i.podium("runs", "retry", second.ID, "--from", "order"); said.code != exitFailed || !strings.Contains(said.stderr, "twice: order") || len(effects("order")) != 1 {
		t.Errorf("what was done outside: %d %s", said.code, said.stderr)
	}
	if shown := i.podium("runs", "show", second.ID).succeeds(t).stdout; !strings.Contains(shown, "\nretries   run "+first.ID+"\n") {
		t.Errorf("runs show says\n%s", shown)
	}
	if said := i.podium("runs", "show", first.ID[:8]); said.code == exitOK || !strings.Contains(said.stderr, second.ID) || !strings.Contains(said.stderr, first.ID) {
		t.Errorf("the beginning of both ids: %d %s", said.code, said.stderr)
	}
	i.stop()
	i.up()
	if told = retry(second.ID, "--from", "judge", "--allow-duplicate"); !slices.Equal(told.Effects, []string{"order"}) {
		t.Errorf("it says %+v", told)
	}
	for _, agent := range []string{"judge", "order"} {
		if asked := effects(agent); len(slices.Compact(slices.Sorted(slices.Values(asked)))) != len(asked) {
			t.Errorf("%s is asked for one effect twice: %q", agent, asked)
		}
	}
	i.stop()
	i.verify()
}

// reviewedConfig has code that its check finds to be wrong; the check cannot be made again while there is a file.
const reviewedConfig = `
agents:
  code: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo x >>"$DONE/code"; if test $(wc -l <"$DONE/code") = 1; then echo wrong; else echo right; fi'], env: ["DONE=%[1]s"]}
  check: {kind: exec, command: [sh, -c, 'if grep -q right; then test ! -e "$DONE/broken" || exit 1; echo "{\"data\":{\"validator\":\"check\",\"status\":\"passed\"}}"; else echo "{\"data\":{\"validator\":\"check\",\"status\":\"failed\",\"details\":\"It is wrong.\"}}"; fi'], env: ["DONE=%[1]s"], kinds: [work, judge]}
profiles:
  desk:
    language: en
    agents: [code, check]
    routers: [{kind: assigned}]
    execution: {mode: dag}
    retry: {attempts: 1}
    review: {rounds: 1, checks: [{agent: check}], on_failed: fail}
    planner:
      kind: template
      templates:
        - name: one
          tasks:
            - {task: code, description: Code., agent: code}
chat: {channels: {web: {profile: desk, secret: "` + webSecret + `"}}}
`

// TestReviewIsRetried: a run whose review has failed is begun anew with what the review had mended, and is looked at again by the check that was mended meanwhile; nothing is done again, unless what
// has mended a task is named, which stands for that task. What is asked about a run is no task of its plan.
func TestReviewIsRetried(t *testing.T) {
	t.Parallel()
	done := t.TempDir()
	broken := filepath.Join(done, "broken")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	i := install(t, fmt.Sprintf(reviewedConfig, done))
	i.up()
	if sent := i.podium("send", "Please go.", "--wait", "--timeout", "1m"); sent.code == exitOK {
		t.Fatalf("it is done: %s", sent.stdout)
	}
	first := i.runs()[0]
	within(t, patience, "it has ended", func() bool { return i.run(first.ID).Phase == workflow.PhaseComplete })
	if ended := i.run(first.ID); ended.Reason != schemas.StopReviewFailed || ended.Task("fix1.code") == nil {
		t.Fatalf("it ends %s (%s): %+v", ended.Status, ended.Reason, ended.Review)
	}
	if said := i.podium("runs", "retry", first.ID, "--from", "check:check:1"); said.code != exitFailed || !strings.Contains(said.stderr, "no task of its plan") {
		t.Errorf("a question: %d %s", said.code, said.stderr)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from []string
		want string
	}{{nil, "brought [code], to do []"}, {[]string{"--from", "fix1.code"}, "brought [], to do [code]"}} {
		var told retried
		said := i.podium(append([]string{"runs", "retry", "-o", "json", first.ID}, c.from...)...).succeeds(t)
		if err := json.Unmarshal([]byte(said.stdout), &told); err != nil {
			t.Fatalf("%v in %s", err, said.stdout)
		}
		within(t, patience, told.Retry+" has ended", func() bool { return i.run(told.Retry).Phase == workflow.PhaseComplete })
		if got := fmt.Sprintf("brought %v, to do %v", told.Brought, told.Again); got != c.want || !told.Reviews {
			t.Errorf("from %q it says %s; %+v", c.from, got, told)
		}
		if run := i.run(told.Retry); run.Status != schemas.RunCompleted || run.Review.Round != 1 || run.Task("code").Result.Text != "right" {
			t.Errorf("from %q it ends %s (%s), %+v", c.from, run.Status, run.Reason, run.Task("code").Result)
		}
	}
	i.stop()
	i.verify()
}
