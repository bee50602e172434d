package session_test

import (
	"strings"
	"testing"
)

// TestNoIsNoArgument: who answers a question by not wanting it any more has not said what was asked: an agent with side effects does not
// beginRun with that for an argument.
func TestNoIsNoArgument(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"No, please stop.", "I don't know.", "Thank you, never mind."} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
agents:
  - name: clerk
    side_effects: external
    input_schema: {type: object, properties: {customer: {type: string, title: customer}, action: {type: string, enum: [cancel]}}, required: [customer, action]}
    arguments: {arguments: [{path: action, map: [{word: "cancel*", value: cancel}]}, {path: customer, pattern: "customer ([A-Z]\\w+)"}]}
routers: [{kind: default, agent: clerk}]
----

chat id=c1 thread=t user=U1
Please cancel the contract.
----

chat id=c2 thread=t user=U1
`+word+`
----
`)
			if newest := told[len(told)-1]; strings.Contains(newest, "clerk asked") {
				t.Fatalf("the contract of that customer is cancelled:\n%s", newest)
			}
		})
	}
}
