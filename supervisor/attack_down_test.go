package supervisor_test

import (
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor/restore"
)

// TestAnswersWhileTheServiceWasDown: a mail that came in time is an answer, though the service was down when time was up (ADR 65): the mailbox holds it meanwhile, and its
// adapter, which is a part of the service, takes it after the start.
func TestAnswersWhileTheServiceWasDown(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]time.Duration{"on the ledger": -time.Second, "in the mailbox": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doctor := deskProfile()
			doctor.Edition = schemas.Edition1
			doctor.People = map[string]schemas.Person{"anna": {Mail: "anna@practice.example", Account: "support"}}
			doctor.Agents[0].Person = &schemas.PersonPolicy{People: []string{"anna"}, Expire: schemas.Duration(48 * time.Hour)}
			d := &desk{tb: t, ledger: memory.New(1), now: midnight()}
			var err error
			d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{doctor})
			d.must(err)
			o := d.open("a", d.ledger, 0)
			d.say("t", "c1", "Please look at my arm.")
			d.must(d.work(o))
			d.answerNewest("mail", "sent")
			d.must(d.work(o))
			answered := d.now.Add(24 * time.Hour) // half of the time that there is
			d.now = d.now.Add(49 * time.Hour)     // and down it was from before that
			session, shard := d.session("t")
			body, err := schemas.Marshal(schemas.EmailReceived{
				Account: "support", Mailbox: "INBOX", MessageID: "m1@practice.example", From: []schemas.Address{{Address: "anna@practice.example"}},
				AnswerTo: schemas.Address{Address: "anna@practice.example"},
				Text:     "It is a rash.", Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: answered, UIDValidity: 1, UID: 1, Origin: schemas.OriginProven,
				Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}, Answers: &schemas.Letter{Run: schemas.RunID(session, 1), Inquiry: 1},
			})
			d.must(err)
			mail := func() {
				d.put(bus.InSubject("mail", shard), &schemas.Event{
					ID: "m1", Source: "/desk", Type: schemas.TypeEmailReceived, Time: answered, Profile: "desk", PartitionKey: "letter", SessionID: session,
					DataContentType: schemas.MediaTypeJSON, Data: body,
				})
			}
			if late < 0 {
				mail()
			}
			o = d.open("b", d.ledger, 0)
			d.must(d.work(o))
			for until := d.now.Add(late); d.now.Before(until); {
				d.now = d.now.Add(100 * time.Millisecond)
				d.must(d.work(o))
			}
			if late > 0 {
				mail()
				d.must(d.work(o))
			}
			if asked := d.sessionHistory("t").Runs[0].Inquiries[0]; asked.Answered == nil {
				t.Fatalf("written at %v, taken by the mail server; the inquiry until %v is closed (%s)", answered, asked.Expires(), asked.Closed)
			}
		})
	}
}
