package session_test

import (
	"strings"
	"testing"
)

// TestWorkOfTheSameRequestIsDoneOnce: a second attempt of a request upstream is the same piece of work: a doctor who has the letter of the first attempt is not
// written to again, or their answer to that counts.
func TestWorkOfTheSameRequestIsDoneOnce(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
edition: 1
people: {anna: {mail: anna@practice.example, account: support}}
agents: [{name: doctor, person: {people: [anna], expire: 48h}}]
routers: [{kind: default, agent: doctor}]
----

request id=r1 effect=e1 attempt=1
Please look at my arm.
----

answer task=ask:1:1 receipt=q1@support.example
----

request id=r2 effect=e1 attempt=2
Please look at my arm.
----

answer task=ask:1:1 run=2 receipt=q1@support.example
----

mail id=m1 from=anna@practice.example answers=1.1
It is a rash.
----
`)
	if newest := told[len(told)-1]; strings.Contains(told[3], "→ mail: ask:1:1") && strings.Contains(newest, "refused (inquiry_closed)") {
		t.Fatalf("she is asked twice, and what she says to the first letter is thrown away:\n%s", newest)
	}
}
