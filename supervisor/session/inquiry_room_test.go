package session_test

import (
	"strings"
	"testing"
)

// TestWordBeforeTheQuestionWentOut: what the requester says while the question still waits for room is no answer to it: they were not asked.
func TestWordBeforeTheQuestionWentOut(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile default=clerk
waiting: {expire: 72h, asks: 2}
----

chat id=c1 thread=t user=U1
Please write a letter.
----

room chat=0
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}, schema: {type: string}}]
----

advance 1h
----

chat id=c2 thread=t user=U1
Is anybody there?
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, "message c2: answered") {
		t.Fatalf("U1 was never asked, and answers:\n%s", newest)
	}
}
