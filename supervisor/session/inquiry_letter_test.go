package session_test

import (
	"strings"
	"testing"
)

// TestUncheckedMailNamesTheQuestion: where no server vouches for mail, a letter that names the answer of an earlier run is no
// answer to what a later run asks.
func TestUncheckedMailNamesTheQuestion(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile default=clerk
edition: 1
waiting: {expire: 72h, asks: 2}
----

mail id=m1 from=ana@example.org
Please write a letter.
----

answer task=t1
Dear Ana
----

answer task=reply receipt=a1@support.example
----

mail id=m2 from=ana@example.org reply-to=m1
Please write another letter.
----

answer task=t1 run=2 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}, schema: {type: string}}]
----

answer task=ask:1:1 run=2 receipt=q1@support.example
----

mail id=m3 from=ana@example.org answers=1 reply-to=m1
Thanks for the letter.
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, "message m3: answered") {
		t.Fatalf("a word on the answer of run 1 is taken for what run 2 asks:\n%s", newest)
	}
}
