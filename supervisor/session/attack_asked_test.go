package session_test

import (
	"testing"
	"time"
)

// TestTimesCountFromTheQuestion: reminder and end count from when the question went out, so that nobody is given up who was never asked (ADR 65): not from a
// first attempt that the mail server has refused.
func TestTimesCountFromTheQuestion(t *testing.T) {
	t.Parallel()
	s, told := attack(t, `
profile default=clerk
edition: 1
waiting: {expire: 2m, asks: 2}
delivery: {attempts: 9, wait: 3m}
----

mail id=m1 from=ana@example.org
Please write a letter.
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}}]
----

answer task=ask:1:1 status=failed issue=(the server takes no mail now) category=resource
----

advance 2m30s
----
`)
	if inquiry := s.state.Active.Inquiry(1); !inquiry.Open() {
		t.Fatalf("nobody was ever told of the question, and the inquiry is closed after %v (%s):\n%s", time.Duration(inquiry.Expire), inquiry.Closed, told[len(told)-1])
	}
}
