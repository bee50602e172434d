package session_test

import (
	"strings"
	"testing"
)

// TestFilesOfPeopleGoToWhoBuildsOnThem: the files of a person who does a task are told to those that build on the task, as any result is, and not
// to all agents of the run as files of the message.
func TestFilesOfPeopleGoToWhoBuildsOnThem(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}}
agents: [{name: doctor, person: {people: [anna], expire: 48h}}, {name: clerk}, {name: calculator}, {name: summary}]
routers: [{kind: assigned}]
execution: {mode: dag}
planner: {kind: template, templates: [{name: two, tasks: [{task: a, description: "one", agent: doctor}, {task: b, description: "two", agent: calculator}, {task: c, description: "three", agent: clerk, dependencies: [b]}]}]}
----

chat id=c1 thread=t user=U1
Go.
----

mail id=m2 from=anna@practice.example answers=1.1 file=a
It is a rash.
----

answer task=b
5
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, "a.txt") {
		t.Fatalf("c, which builds on b alone, gets the doctor's file:\n%s", newest)
	}
}
