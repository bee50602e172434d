package session_test

import (
	"strings"
	"testing"
)

// TestFailureByAnEarlierAttemptIsTold: the agent of the attempt under way is told that nobody waits for it, also when the answer to an earlier attempt ends it by a
// failure and nothing is asked instead: what is owed is known from the record, so that no other transition follows in it.
func TestFailureByAnEarlierAttemptIsTold(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"failed":    "\nanswer task=sum attempt=1 status=failed\nno\n----\n",
		"completed": "\nanswer task=sum attempt=1\n5\n----\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, told := attack(t, `
profile mode=dag attempts=4
planner: {kind: external}
agents: [{name: calculator, heartbeat: 2s, work: 1h, async: true}, {name: clerk}]
routers: [{kind: assigned}]
----

request id=r1 payload
tasks:
- {task_id: sum, description: add, assigned_to: calculator}
- {task_id: b, description: one, assigned_to: clerk}
----

progress task=sum
----

advance 7s
----
`+answer)
			if last := told[len(told)-1]; !strings.Contains(last, "calculator: stop") {
				t.Errorf("nobody tells it to stop:\n%s", last)
			}
		})
	}
}
