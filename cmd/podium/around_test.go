package main

import (
	"strings"
	"testing"

	"podium/schemas/workflow"
)

const nestedDesk = `
agents: {echo: {kind: echo}, team: {kind: supervisor, profile: inner}}
profiles:
  desk: {language: en, agents: [team], routers: [{kind: default, agent: team}]}
  inner: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}
`

// TestRunsTellWhatIsAroundThem: whoever looks at a run is told who has asked, which run it is a
// task of, and which runs supervisors have begun for it; no run is listed as asked nothing.
func TestRunsTellWhatIsAroundThem(t *testing.T) {
	t.Parallel()
	i := install(t, nestedDesk)
	i.up()
	long := "many words about pumps" + strings.Repeat(" and more", 600) // more than a record holds
	i.podium("send", "--profile", "desk", "--wait", long).succeeds(t)
	var parent, child workflow.RunHistory
	for _, run := range lines[workflow.RunHistory](t, i.podium("runs", "-o", "json")) {
		if run.Message.Upstream == nil {
			parent = run
		} else {
			child = run
		}
	}
	type told struct {
		Sender   struct{ User, Agent string }
		Parent   string
		Children []struct{ Run, Task, Agent, Status string }
	}
	for _, state := range []string{"running", "at rest"} {
		of := lines[told](t, i.podium("runs", "show", parent.ID, "-o", "json"))[0]
		if len(of.Children) != 1 || of.Children[0].Run != child.ID || of.Children[0].Agent != "team" || of.Children[0].Status != "completed" || of.Sender.Agent != "" {
			t.Errorf("%s: around the run is %+v, want %s", state, of, child.ID)
		}
		if of = lines[told](t, i.podium("runs", "show", child.ID, "-o", "json"))[0]; of.Parent != parent.ID || of.Sender.Agent != "supervisor" || len(of.Children) > 0 {
			t.Errorf("%s: around the other is %+v, want %s", state, of, parent.ID)
		}
		for of, want := range map[string]string{
			parent.ID: "child     run " + child.ID + ", t1 by team: completed\n", child.ID: "task of   run " + parent.ID + "\n",
		} {
			if shown := i.podium("runs", "show", of).succeeds(t).stdout; !strings.Contains(shown, want) || !strings.Contains(shown, "asked     many words about pumps") {
				t.Errorf("%s: %q is not in\n%s", state, want, shown)
			}
		}
		if listed := i.podium("runs").succeeds(t).stdout; strings.Count(listed, "many words about pumps") != 2 {
			t.Errorf("%s: what was asked is not listed:\n%s", state, listed)
		}
		if state == "running" {
			i.stop()
		}
	}
}
