package main

import (
	"strings"
	"testing"

	"podium/schemas"
	"podium/schemas/workflow"
)

// heldConfig has answers sent only once anna has agreed to them.
const heldConfig = deskByMail + `
people: {anna: {mail: anna@practice.example}}
agents:
  clerk: {kind: exec, command: [sh, -c, 'cat >/dev/null; echo Guten Tag, der Termin steht.'], env: ["ORDERED=%[3]s"]}
profiles:
  desk:
    language: de
    agents: [clerk]
    routers: [{kind: default, agent: clerk}]
    conversation: {replies_per_hour: 20}
    approval: [{delivery: true, people: [anna], expires: 24h}]
`

// TestAnswersWaitForLeave: what is answered is shown to anna, and sent once she has agreed, as it was shown. What she says no to is never sent, nor is what is taken back while it waits, and nobody
// can have it sent again.
func TestAnswersWaitForLeave(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, heldConfig)
	ended := func(n int) workflow.RunHistory {
		within(t, patience, "the run ends", func() bool {
			runs := o.service.runs()
			return len(runs) == n && runs[0].Phase == workflow.PhaseComplete
		})
		return o.service.run(o.service.runs()[0].ID)
	}
	o.write("ada@example.net", "", "Steht der Termin?", true)
	question, text := o.asked(1)
	if !strings.Contains(text, "ada@example.net") || !strings.Contains(text, "der Termin steht") || !strings.Contains(text, "freigeben") {
		t.Errorf("anna is asked %q", text)
	}
	o.write("ada@example.net", question, "freigeben", true)
	o.await("who has asked", schemas.WordNotAllowed, 1)
	if said := o.service.podium("inbox"); !strings.Contains(said.stdout, "approval") || !strings.Contains(said.stdout, "der Termin steht") {
		t.Errorf("podium inbox says %s", said.stdout)
	}
	if got := o.letters("ada@example.net"); len(got) > 0 {
		t.Fatalf("ada has got %d letters, and nobody has agreed", len(got))
	}
	o.write("anna@practice.example", question, "freigeben", true)
	if run := ended(1); run.Status != schemas.RunCompleted || run.Replied == "" {
		t.Errorf("the run ends %s (%s)", run.Status, run.Reason)
	}
	if _, text = o.told("ada@example.net", 1); !strings.Contains(text, "Guten Tag, der Termin steht.") {
		t.Errorf("ada is told %q", text)
	}

	o.write("ada@example.net", "", "Steht er noch?", true)
	question, _ = o.asked(2)
	o.write("anna@practice.example", question, "ablehnen", true)
	rejected := ended(2)
	if rejected.Status != schemas.RunFailed || rejected.Reason != schemas.StopRejected {
		t.Errorf("the run ends %s (%s)", rejected.Status, rejected.Reason)
	}
	if said := o.service.podium("runs", "resend", rejected.ID); said.code != exitFailed || !strings.Contains(said.stderr, "have not") {
		t.Errorf("podium runs resend: %d %s", said.code, said.stderr)
	}

	o.write("ada@example.net", "", "Und jetzt?", true)
	o.asked(3)
	o.service.podium("runs", "cancel", o.service.runs()[0].ID).succeeds(t)
	if run := ended(3); run.Status != schemas.RunCancelled || run.Reason != schemas.StopCancelled {
		t.Errorf("the run ends %s (%s)", run.Status, run.Reason)
	}
	if got := o.letters("ada@example.net"); len(got) != 1 {
		t.Errorf("ada has got %d letters", len(got))
	}
	o.service.stop()
	o.service.verify()
}
