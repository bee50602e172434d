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
edition: 1
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
