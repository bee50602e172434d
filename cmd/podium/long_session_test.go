package main

import (
	"slices"
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

const longConfig = `
agents:
  calculator: {kind: calculator}
  broken: {kind: exec, command: [sh, -c, "sleep 0.05; exit 1"]}
  note: {kind: exec, command: [sh, -c, "sleep 0.05; echo noted"]}
  reports: {kind: supervisor, profile: graph}
profiles:
  desk:
    agents: [calculator, broken, reports]
    routers:
      - kind: keywords
        groups: [{agent: reports, keywords: ["report*"]}, {agent: broken, keywords: [break]}]
      - {kind: default, agent: calculator}
    retry: {attempts: 3, wait: 50ms}
  graph:
    agents: [{name: broken, fallback: note}, note]
    routers: [{kind: assigned}, {kind: default, agent: note}]
    planner:
      kind: template
      templates:
        - name: report
          keywords: ["report*"]
          tasks:
            - {task: research, agent: note, description: "Find out"}
            - {task: figures, agent: broken, description: "Count", dependencies: [research]}
            - {task: draft, agent: note, description: "Write", dependencies: [research, figures]}
    execution: {mode: dag}
    retry: {attempts: 2, wait: 50ms}
`

// TestLongSessionOutlivesKills: many runs of one thread wait for each other, fail, are tried again and handed on to a
// fallback while the service is killed; all end, in order, and the snapshots in their midst are
// those of the records.
func TestLongSessionOutlivesKills(t *testing.T) {
	t.Parallel()
	i := install(t, longConfig, oneShard)
	i.up()
	const rounds = 3
	for range rounds {
		for _, words := range []string{"6 * 7", "please break", "a report", "8 * 9"} {
			i.podium("send", "--profile", "desk", "--thread", "long", words).succeeds(t)
		}
		i.kill()
		i.up()
	}
	var runs []workflow.RunHistory
	within(t, 2*patience, "every run has ended", func() bool {
		runs = lines[workflow.RunHistory](t, i.podium("runs", "-o", "json").succeeds(t))
		open := slices.ContainsFunc(runs, func(run workflow.RunHistory) bool { return run.Phase != workflow.PhaseComplete })
		return !open && len(runs) == 5*rounds // a report is a run of its own, too
	})
	statuses := map[schemas.RunStatus]int{}
	for n := range runs {
		statuses[runs[n].Status]++
	}
	if statuses[schemas.RunFailed] != rounds || statuses[schemas.RunCompleted] != 4*rounds {
		t.Errorf("they ended as %v", statuses)
	}
	if records := i.podium("replay", "-o", "json").succeeds(t).stdout; strings.Count(records, `"snapshot":{`) < 2 || !strings.Contains(records, `"last_failure":{`) {
		t.Error("no snapshot holds a task that has failed")
	}
	i.stop()
	i.verify()
}
