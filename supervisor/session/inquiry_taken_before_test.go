package session_test

import (
	"testing"
	"time"

	"podium/schemas"
)

// TestWordBeforeTheQuestionIsNoAnswer: a word counts by when it was taken (ADR 65). What somebody wrote while the service was down,
// before they were asked anything, is a message like any other.
func TestWordBeforeTheQuestionIsNoAnswer(t *testing.T) {
	t.Parallel()
	s, _ := attack(t, `
profile default=clerk
waiting: {expire: 72h, asks: 2}
----

chat id=c1 thread=t user=U1
Please write a letter.
----

advance 10s
----
`)
	written := s.now.Add(-time.Second)
	hurry := s.event(t, "c2", schemas.TypeChatReceived, schemas.ChatReceived{
		Provider: "webhook", Channel: "web", Thread: "t", MessageID: "c2", Text: "Are you still there?", User: schemas.ChatUser{ID: "U1"},
	})
	hurry.Time = written
	blocked := s.answerTo(t, "clerk", 1, "t1", 1, schemas.ResponsePayload{
		Status: schemas.StatusBlocked, Needs: []schemas.Need{{Name: "address", Question: map[string]string{"en": "Where to?"}}},
	})
	if _, err := s.take(t, blocked, "clerk"); err != nil { // both wait on the ledger, and are decided now
		t.Fatal(err)
	}
	s.takes(t, hurry)
	if inquiry := s.state.Active.Inquiry(1); inquiry.Answered != nil {
		t.Fatalf("asked at %v, answered by a word of %v: %q", inquiry.Opened, written, inquiry.Answered.Text.Text)
	}
}

// TestLetterBeforeTheQuestionIsNoAnswer: a mail that answers another letter of ours, such as the answer of the run before, names no question.
// One from before the question answers none, as one that names no letter at all.
func TestLetterBeforeTheQuestionIsNoAnswer(t *testing.T) {
	t.Parallel()
	for names, letter := range map[string]*schemas.Letter{"no letter": nil, "the answer before": {}} {
		t.Run(names, func(t *testing.T) {
			t.Parallel()
			s, _ := attack(t, `
profile default=clerk
waiting: {expire: 72h, asks: 2}
----

mail id=m1 from=ana@example.org origin=proven
Please write a letter.
----

advance 10s
----
`)
			if letter != nil {
				letter.Run = schemas.RunID(s.state.Session, 1)
			}
			written := s.now.Add(-2 * time.Second)
			hurry := s.event(t, "m2", schemas.TypeEmailReceived, schemas.EmailReceived{
				Account: "support", Mailbox: "INBOX", MessageID: "m2@example.org", From: []schemas.Address{{Address: "ana@example.org"}},
				AnswerTo: schemas.Address{Address: "ana@example.org"}, Text: "Thank you. And please hurry.", Class: schemas.MailHuman, Parse: schemas.ParseOK,
				Received: written, UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: zeros, Size: 1}, Origin: schemas.OriginProven, Answers: letter,
			})
			hurry.Time = written
			blocked := s.answerTo(t, "clerk", 1, "t1", 1, schemas.ResponsePayload{
				Status: schemas.StatusBlocked, Needs: []schemas.Need{{Name: "address", Question: map[string]string{"en": "Where to?"}}},
			})
			if _, err := s.take(t, blocked, "clerk"); err != nil { // both wait on the ledger, and are decided now
				t.Fatal(err)
			}
			s.takes(t, hurry)
			if inquiry := s.state.Active.Inquiry(1); inquiry.Answered != nil {
				t.Fatalf("asked at %v, answered by a word of %v: %q", inquiry.Opened, written, inquiry.Answered.Text.Text)
			}
		})
	}
}
