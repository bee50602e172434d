package supervisor_test

import (
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
)

// TestPeopleAnswerByTheAccountOfAnotherProfile: who is written to by a mail account that serves another profile, as where a chat's profile
// or one below another hands work to people, is believed all the same: what counts is the profile of the run.
func TestPeopleAnswerByTheAccountOfAnotherProfile(t *testing.T) {
	t.Parallel()
	for _, account := range []string{"desk", "front"} { // "desk" is the profile of the run: that it can be answered at all
		t.Run(account, func(t *testing.T) {
			t.Parallel()
			d, o := askedDoctor(t)
			d.answerLetter(account)
			d.must(d.work(o))
			if asked := d.sessionHistory("t").Runs[0].Inquiries[0]; asked.Answered == nil {
				t.Fatalf("anna has answered the letter, and the run waits until %v", asked.Expires())
			}
			d.clean()
		})
	}
}

// TestNobodyAnswersForAProfileThatIsGone: whoever takes a profile out of the configuration has its people decide nothing any more, though
// the run is pinned to it, and deciding it again comes to the same.
func TestNobodyAnswersForAProfileThatIsGone(t *testing.T) {
	t.Parallel()
	d, _ := askedDoctor(t)
	front := deskProfile()
	front.Name = "front"
	var err error
	d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{front})
	d.must(err)
	o := d.open("b", d.ledger, 0)
	d.answerLetter("front")
	d.must(d.work(o))
	history := d.sessionHistory("t")
	if asked := history.Runs[0].Inquiries[0]; asked.Answered != nil || len(history.Runs) != 1 {
		t.Errorf("a word counts, or begins a run: %+v, %d runs", asked.Answered, len(history.Runs))
	}
	if last := history.Messages[len(history.Messages)-1]; last.Reason != string(schemas.WordNotAllowed) {
		t.Errorf("the letter is %s (%s)", last.Disposition, last.Reason)
	}
	d.clean()
}

// askedDoctor is a desk at which a task waits for a doctor who was written to, and its owner.
func askedDoctor(t *testing.T) (*desk, *supervisor.Owner) {
	t.Helper()
	doctor, front := deskProfile(), deskProfile()
	front.Name = "front"
	doctor.People = map[string]schemas.Person{"anna": {Mail: "anna@practice.example", Account: "support"}}
	doctor.Agents[0].Person = &schemas.PersonPolicy{People: []string{"anna"}, Expire: schemas.Duration(48 * time.Hour)}
	d := &desk{tb: t, ledger: memory.New(1), now: midnight()}
	var err error
	d.profiles, err = restore.NewProfiles(t.Context(), d.ledger.Artifacts(), []schemas.Profile{doctor, front})
	d.must(err)
	o := d.open("a", d.ledger, 0)
	d.say("t", "c1", "Please look at my arm.")
	d.must(d.work(o))
	if len(d.requests("mail")) != 1 {
		t.Fatal("the doctor is not written to")
	}
	return d, o
}

// answerLetter has the doctor answer by the mail account of a profile.
func (d *desk) answerLetter(account string) {
	d.tb.Helper()
	session, shard := d.session("t")
	body, err := schemas.Marshal(schemas.EmailReceived{
		Account: "support", Mailbox: "INBOX", MessageID: "m1@practice.example", From: []schemas.Address{{Address: "anna@practice.example"}},
		AnswerTo: schemas.Address{Address: "anna@practice.example"},
		Text:     "It is a rash.", Class: schemas.MailHuman, Parse: schemas.ParseOK, Received: d.now, UIDValidity: 1, UID: 1, Origin: schemas.OriginProven,
		Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}, Answers: &schemas.Letter{Run: schemas.RunID(session, 1), Inquiry: 1},
	})
	d.must(err)
	d.put(bus.InSubject("mail", shard), &schemas.Event{
		ID: "m1", Source: "/desk", Type: schemas.TypeEmailReceived, Time: d.now, Profile: account, PartitionKey: "letter", SessionID: session,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}
