package session_test

import (
	"strings"
	"testing"
)

// TestSubjectIsNoAnswer: a letter without words of its own, such as one that answers among the quoted lines or with a file alone, does not answer with its subject: here that
// would be an argument of an effect.
func TestSubjectIsNoAnswer(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile
waiting: {expire: 72h, asks: 2}
agents:
  - name: clerk
    input_schema: {type: object, properties: {customer: {type: string, title: customer}, action: {type: string, enum: [cancel]}}, required: [customer, action]}
    arguments: {arguments: [{path: action, map: [{word: "cancel*", value: cancel}]}, {path: customer, pattern: "customer ([A-Z]\\w+)"}]}
routers: [{kind: default, agent: clerk}]
----

mail id=m1 from=ana@example.org subject=(My contract)
Please cancel it.
----

answer task=ask:1:1 receipt=q1@support.example
----

mail id=m2 from=ana@example.org answers=1.1 reply-to=m1 subject=(Re: My contract)
----
`)
	if newest := told[len(told)-1]; strings.Contains(newest, `"customer":"Re: My contract"`) {
		t.Fatalf("the subject is booked as the customer:\n%s", newest)
	}
}
