package session_test

import (
	"strings"
	"testing"
)

// TestWhyWorkWasDeclinedIsToldNobody: the reason for which a person declines is told to no agent, not as the answer of the requester either.
func TestWhyWorkWasDeclinedIsToldNobody(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
people: {anna: {mail: anna@practice.example, account: support}}
agents:
  - {name: doctor, fallback: clerk, person: {people: [anna], remind: 4h, expire: 48h}}
  - {name: clerk}
routers: [{kind: default, agent: doctor}]
----

chat id=c1 thread=t user=U1
Please look at my arm.
----

word id=w1 run=1 inquiry=1 reject
I will not treat this patient again.
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, `answered "I will not treat`) {
		t.Fatalf("the fallback is told why the doctor has declined:\n%s", newest)
	}
}
