package session_test

import (
	"testing"

	"podium/schemas"
)

// TestBounceOfAQuestionUpstream: a question to people in a run for a supervisor upstream that comes back ends its inquiry, as any other does. The Message-ID
// begins with the effect of its request.
func TestBounceOfAQuestionUpstream(t *testing.T) {
	t.Parallel()
	s, _ := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}}
agents: [{name: doctor, person: {people: [anna], expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----

request id=r1 effect=e1 attempt=1
Please look at my arm.
----

answer task=ask:1:1 receipt=q1@support.example
----
`)
	effect := ""
	for _, record := range s.records {
		for _, fact := range record.First().Facts {
			if sent, is := fact.(*schemas.TaskDispatched); is && sent.Task == "ask:1:1" {
				effect = sent.Effect
			}
		}
	}
	s.takes(t, s.event(t, "b1", schemas.TypeEmailReceived, schemas.EmailReceived{
		Account: "support", Mailbox: "INBOX", MessageID: "b1@example.org", Class: schemas.MailBounce, Parse: schemas.ParseOK, Received: s.now,
		UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: zeroHash, Size: 1}, Origin: schemas.OriginUnchecked,
		Bounce: &schemas.Bounce{MessageID: effect + "@support.example", RecipientStatus: schemas.RecipientStatus{Action: "failed", Status: "5.1.1"}},
	}))
	if s.state.Active != nil && s.state.Active.WaitsForPeople() {
		t.Fatal("the letter came back, and the run waits for an answer to it")
	}
}

const zeroHash = "0000000000000000000000000000000000000000000000000000000000000000"
