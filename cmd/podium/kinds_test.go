package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"podium/schemas/workflow"
)

// scoredConfig is a desk that weighs a program with effects outside, a supervisor,
// and a program of another process, which alone answers how well it could do a task.
const scoredConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  letters: {kind: exec, command: [sh, letters.sh], side_effects: external, description: writes letters, capabilities: [{words: ["letter*"], score: 0.9}]}
  tower: {kind: supervisor, profile: nested, description: has letters written}
  oracle: {kind: external, kinds: [work, assess], description: knows letters}
  echo: {kind: echo}
profiles:
  desk: {agents: [{name: letters, on_tainted: allow}, tower, oracle], routers: [{kind: score, deadline: 10m}]}
  nested: {agents: [echo], routers: [{kind: default, agent: echo}]}
`

// TestAssessmentStartsNothing: who does not declare that it assesses itself is weighed
// by its capabilities: no program is started for the question, no run of a nested
// supervisor, and nobody is permitted to act. An agent in another process answers what
// its command line declares, and its program is not started for anything else.
func TestAssessmentStartsNothing_P06_P07(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(scoredConfig, webSecret), oneShard)
	letters, oracle := filepath.Join(i.folder, "letters"), filepath.Join(i.folder, "oracle")
	i.write("letters.sh", fmt.Sprintf("echo $PODIUM_TASK >> %q\necho written\n", letters))
	i.write("oracle.sh", fmt.Sprintf("echo $PODIUM_TASK >> %q\necho '{\"score\":0.5}'\n", oracle))
	i.up()
	for n, c := range []struct {
		kinds   []string
		asked   string // what its program was started for
		scores  string
		refused string
	}{
		{[]string{"--kinds", "work,assess"}, "assess:t1:oracle\n", "letters 0.94, oracle 0.5, tower 0.2", ""},
		{nil, "", "letters 0.94, tower 0.2, oracle 0.2", "This agent does not answer requests of kind assess. It declares: work."},
	} {
		for _, trace := range []string{letters, oracle} {
			if err := os.WriteFile(trace, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		worker := spawn(t, slices.Concat([]string{"--data", i.data, "agent", "exec", "--name", "oracle"}, c.kinds, []string{"--", "sh", filepath.Join(i.folder, "oracle.sh")})...)
		worker.says(t, "agent oracle takes requests")
		run, answer := i.answered("--profile", "desk", "write a letter")
		if answer != "written" || run.Tasks[0].Agent != "letters" || run.Tasks[0].Permit == "" {
			t.Errorf("the answer is %q, by %+v", answer, run.Tasks[0])
		}
		var scores []string
		for _, candidate := range run.Decision("t1").Candidates {
			scores = append(scores, fmt.Sprint(candidate.Agent, " ", candidate.Score))
		}
		if got := strings.Join(scores, ", "); got != c.scores {
			t.Errorf("scores %s, want %s", got, c.scores)
		}
		if len(run.DecisionTasks) != 1 || run.DecisionTasks[0].Agent != "oracle" || run.DecisionTasks[0].Failure().Detail != c.refused {
			t.Errorf("asked are %+v", run.DecisionTasks)
		}
		for trace, want := range map[string]string{letters: "t1\n", oracle: c.asked} {
			if got, err := os.ReadFile(trace); err != nil || string(got) != want {
				t.Errorf("%s was started for %q, want %q, %v", filepath.Base(trace), got, want, err)
			}
		}
		if runs := i.runs(); len(runs) != n+1 || slices.ContainsFunc(runs, func(run workflow.RunHistory) bool { return run.Profile == "nested" }) {
			t.Errorf("%d runs for %d messages", len(runs), n+1)
		}
		worker.stop(t)
	}
	i.stop()
	i.verify()
}

// TestExecAgentKinds: the command line refuses what no program can do.
func TestExecAgentKinds(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		"must be one of": {"--kinds", "work,dream"},
		"there is for work alone; let another agent answer them": {"--kinds", "assess", "--side-effects", "external"},
	} {
		o := in(t, "", slices.Concat([]string{"agent", "exec", "--name", "oracle"}, arguments, []string{"--", "cat"})...)
		if o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit code %d, %s", arguments, o.code, o.stderr)
		}
	}
}
