package session_test

import (
	"strings"
	"testing"
)

// TestWorkIsNoQuestion: handing a task to people uses up none of the times that the task may ask the requester (waiting.asks).
func TestWorkIsNoQuestion(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 1}
people: {anna: {mail: anna@practice.example, account: support}}
agents:
  - {name: doctor, fallback: clerk, person: {people: [anna], expire: 48h}}
  - {name: clerk}
routers: [{kind: default, agent: doctor}]
----

chat id=c1 thread=t user=U1
Please look at my arm.
----

word id=w1 run=1 inquiry=1 reject
----

answer task=t1 payload
status: blocked
needs: [{name: arm, question: {en: "Which arm?"}}]
----
`)
	if newest := told[len(told)-1]; !strings.Contains(newest, "run 1 t1 asks") {
		t.Fatalf("the requester was asked nothing so far, and is not asked now:\n%s", newest)
	}
}
