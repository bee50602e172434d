package main

import (
	"strings"
	"testing"

	"podium/schemas"
)

const branchesConfig = `
agents:
  labor: {kind: exec, command: [sh, -c, "exit 1"]}
  labor_fehler: {kind: scripted, script: ./labor.yaml}
  archiv: {kind: exec, command: [sh, -c, "exit 65"]}
  archiv_fehler: {kind: scripted, script: ./archiv.yaml}
  kasse: {kind: exec, command: [sh, -c, "exit 1"]}
profiles:
  praxis:
    language: de
    agents: [{name: labor, fallback: labor_fehler}, {name: archiv, fallback: archiv_fehler}, labor_fehler, archiv_fehler, kasse]
    routers: [{kind: keywords, groups: [{agent: labor, keywords: [labor]}, {agent: archiv, keywords: [archiv]}]}, {kind: default, agent: kasse}]
    retry: {attempts: 2, wait: 10ms}
`

// TestEachAgentHasItsErrorBranch_G34: where an agent fails, the branch is asked that its profile gives it and no other
// agent; one without a branch ends in an error that says what to do. The other parts of the requirement are shown by the
// practice's day, whose messages come by webhook and by IMAP.
func TestEachAgentHasItsErrorBranch_G34(t *testing.T) {
	t.Parallel()
	i := install(t, branchesConfig)
	i.write("labor.yaml", "cases: [{text: \"Das Labor antwortet nicht. Die Praxis ruft Sie an.\"}]\n")
	i.write("archiv.yaml", "cases: [{text: \"Das Archiv gibt dazu nichts her.\"}]\n")
	i.podium("check", "-c", i.config).succeeds(t)
	i.up()
	for _, c := range []struct {
		words, agent string
		attempts     int
		says         string
	}{
		{"Bitte das Labor fragen", "labor_fehler", 3, "Das Labor antwortet nicht. Die Praxis ruft Sie an."},
		{"Bitte im Archiv suchen", "archiv_fehler", 2, "Das Archiv gibt dazu nichts her."},
	} {
		run, answer := i.answered(c.words)
		if task := run.Tasks[0]; len(run.Tasks) != 1 || task.Agent != c.agent || task.PreviousAgent != strings.TrimSuffix(c.agent, "_fehler") ||
			task.Attempt != c.attempts || answer != c.says || run.Status != schemas.RunCompleted {
			t.Errorf("%s\n%s by %s after %q, attempt %d: %q", c.words, run.Status, task.Agent, task.PreviousAgent, task.Attempt, answer)
		}
	}
	run, answer := i.asksInVain("Bitte die Kasse fragen")
	if run.Tasks[0].Agent != "kasse" || run.Error == nil || run.Error.SuggestedAction == "" || !strings.Contains(answer, "konnte nicht") {
		t.Errorf("%+v: %q", run.Error, answer)
	}
	i.stop()
	i.verify()
}
