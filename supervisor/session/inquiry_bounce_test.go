package session_test

import (
	"testing"

	"podium/schemas"
)

// TestOneOfSeveralBounces: a report about one of several people who were asked does not end the question to the others.
func TestOneOfSeveralBounces(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"people": `
profile
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}, ben: {mail: ben@practice.example, account: support}}
agents: [{name: doctor, person: {people: [anna, ben], remind: 4h, expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----

chat id=c1 thread=t user=U1
Please look at my arm.
----

answer task=ask:1:1 receipt=q1@support.example
----
`, "copies": `
profile default=clerk
waiting: {expire: 72h, asks: 2}
----

mail id=m1 from=ana@example.org cc=(gone@example.org) to=(support@example.org)
Please write a letter.
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}}]
----

answer task=ask:1:1 receipt=q1@support.example
----
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := attack(t, script)
			sent := schemas.EffectID(schemas.RunID(s.state.Session, 1), "ask:1:1")
			gone := "gone@example.org" // who was only told of it
			if name == "people" {
				gone = "anna@practice.example" // and ben has got the letter
			}
			s.takes(t, s.event(t, "b1", schemas.TypeEmailReceived, schemas.EmailReceived{
				Account: "support", Mailbox: "INBOX", MessageID: "b1@example.org", Class: schemas.MailBounce, Parse: schemas.ParseOK, Received: s.now,
				UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: zeros, Size: 1}, Origin: schemas.OriginUnchecked,
				Bounce: &schemas.Bounce{MessageID: sent + "@support.example", RecipientStatus: schemas.RecipientStatus{Recipient: gone, Action: "failed", Status: "5.1.1"}},
			}))
			if inquiry := s.state.Active.Inquiry(1); !inquiry.Open() {
				t.Fatalf("inquiry 1 is closed (%s) because of %s, though others were asked", inquiry.Closed, gone)
			}
		})
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
