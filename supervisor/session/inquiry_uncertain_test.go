package session_test

import "testing"

// TestUncertainQuestionIsWaitedFor: a question whose sending was permitted, and of which nobody knows whether it has arrived, is waited for (ADR 65),
// also when its agent falls silent.
func TestUncertainQuestionIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, told := attack(t, `
profile default=clerk delivery=1
waiting: {expire: 72h, asks: 2}
----

mail id=m1 from=ana@example.org
Please write a letter.
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}}]
----

permit task=ask:1:1 id=p1
----

advance 1m
----

mail id=m2 from=ana@example.org answers=1.1 reply-to=m1
To Rue de la Paix 3.
----
`)
	if inquiry := s.state.Active.Inquiry(1); inquiry.Answered == nil {
		t.Fatalf("Ana has got the question and answered it; the inquiry is closed (%s):\n%s", inquiry.Closed, told[len(told)-2])
	}
}
