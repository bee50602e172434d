package session_test

import (
	"strings"
	"testing"
)

// TestAnswersOfPeopleAreNotReused: what an agent has made of one person's answer to its question is
// not told to another person who asks the same.
func TestAnswersOfPeopleAreNotReused(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
agents: [{name: clerk, reuse: 1h}]
routers: [{kind: default, agent: clerk}]
----

chat id=c1 thread=t user=U1
Please write a letter.
----

answer task=t1 payload
status: blocked
needs: [{name: address, question: {en: "Where to?"}, schema: {type: string}}]
----

chat id=c2 thread=t user=U1
To Rue de la Paix 3.
----

answer task=t1 attempt=2
Dear Ana of Rue de la Paix 3
----

answer task=reply
----

chat id=c3 thread=t user=U2
Please write a letter.
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, "Rue de la Paix") {
		t.Fatalf("U2 is told what U1 has answered:\n%s", newest)
	}
}
