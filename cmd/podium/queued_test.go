package main

import (
	"strings"
	"testing"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
)

// TestWhatIsWrittenBesideAQuestion: who writes beside what asks them for leave is told that this comes first, and what it asks. The message is a run once that has ended.
func TestWhatIsWrittenBesideAQuestion(t *testing.T) {
	t.Parallel()
	i := install(t, `
agents:
  mill: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo Ground.'], description: Grinds.}
profiles:
  desk:
    language: en
    agents: [mill]
    routers: [{kind: default, agent: mill}]
    approval: [{agents: [mill], people: [requester], expires: 1h}]
`)
	i.up()
	asked := i.waitsLonger("send", "Grind it.", "--thread", "one", "--wait", "-o", "json")
	first := lines[waitingInquiry](t, outcome{stdout: asked.stdout})
	if len(first) != 1 || asked.code != exitAsks {
		t.Fatalf("who waits sees %d %q\n%s", asked.code, asked.stdout, asked.stderr)
	}
	beside := i.waitsLonger("send", "And when is it ready?", "--thread", "one", "--wait")
	_, waits, _ := strings.Cut(beside.stderr, "the wait is over; run ")
	second, waits, _ := strings.Cut(waits, " ")
	if want := "has not begun: its message waits until run " + first[0].Run + " has ended"; beside.code != exitAsks || !strings.HasPrefix(waits, want) ||
		!strings.Contains(beside.stderr, "answer it: podium ") {
		t.Fatalf("the sender of a second message sees %d %q", beside.code, beside.stderr)
	}
	session, number, err := schemas.ParseRunID(second)
	firstSession, firstNumber, errOfFirst := schemas.ParseRunID(first[0].Run)
	if err != nil || errOfFirst != nil || session != firstSession || number <= firstNumber {
		t.Fatalf("the second message waits as run %s behind %s (%v, %v)", second, first[0].Run, err, errOfFirst)
	}
	if shown := i.podium("runs", "show", second); shown.code != exitNotFound || !strings.Contains(shown.stderr, "podium runs show "+first[0].Run) {
		t.Errorf("it is shown: %d %q", shown.code, shown.stderr)
	}
	i.podium("reject", first[0].ID).succeeds(t)
	within(t, patience, "the message is a run", func() bool { return i.podium("runs", "show", second).code == 0 })
	if none := i.podium("runs", "show", schemas.RunID(session, number+100)); none.code != exitNotFound || !strings.Contains(none.stderr, "there is no run") {
		t.Errorf("what is no run: %d %q", none.code, none.stderr)
	}
}

// waitsLonger runs a command that waits until people are asked and ends with that, by a timeout that is long enough for the machine: what was begun
// within too short a one is cancelled, and begun anew.
func (i *deployment) waitsLonger(arguments ...string) outcome {
	i.t.Helper()
	before := map[string]bool{}
	for _, run := range i.runs() {
		before[run.ID] = true
	}
	for timeout := 2 * time.Second; ; timeout *= 2 {
		waited := i.podium(append(arguments, "--timeout", timeout.String())...)
		if waited.code == exitAsks || timeout > patience {
			return waited
		}
		for _, run := range i.runs() {
			if run.Phase != workflow.PhaseComplete && !before[run.ID] {
				_ = i.podium("runs", "cancel", run.ID)
			}
		}
	}
}
