package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallbackOfAnyEarlierAttemptCounts: an answer to an earlier attempt counts for the one that is under way, however many others have ended since.
func TestCallbackOfAnyEarlierAttemptCounts(t *testing.T) {
	t.Parallel()
	s, told := attack(t, `
profile mode=dag attempts=4
edition: 2
planner: {kind: external}
agents: [{name: calculator, heartbeat: 2s, work: 1h, async: true}, {name: clerk}]
routers: [{kind: assigned}]
----

request id=r1 payload
tasks:
- {task_id: sum, description: add, assigned_to: calculator}
- {task_id: b, description: one, assigned_to: clerk}
- {task_id: c, description: two, assigned_to: clerk}
- {task_id: d, description: three, assigned_to: clerk}
----

progress task=sum
----

advance 7s
----

progress task=sum attempt=2
----

advance 8s
----

answer task=b
done
----

answer task=c
done
----

answer task=d
done
----

progress task=sum attempt=3 waits=1h
----

answer task=sum attempt=1
5
----
`)
	if s.facts["run_ended"] != 1 {
		t.Errorf("the answer to the first attempt is lost:\n%s", strings.Join(told, "\n"))
	}
}

// TestCallbackOfAnEarlierRunCounts: attempts from upstream are one effect, and calls of theirs have one webhook-id, so that the endpoint may answer at any of the
// addresses while an attempt is under way.
func TestCallbackOfAnEarlierRunCounts(t *testing.T) {
	t.Parallel()
	const request = "\nrequest id=r%d effect=e1 attempt=%[1]d payload\ntasks:\n- {task_id: sum, description: add, assigned_to: calculator}\n" +
		"- {task_id: b, description: one, assigned_to: clerk}\n----\n"
	s, told := attack(t, `
profile mode=dag
edition: 2
planner: {kind: external}
agents: [{name: calculator, heartbeat: 10s, work: 1h, async: true}, {name: clerk}]
routers: [{kind: assigned}]
----
`+fmt.Sprintf(request, 1)+`
progress task=sum waits=1h
----
`+fmt.Sprintf(request, 2)+`
progress task=sum run=2 waits=1h
----

answer task=sum run=1
5
----
`)
	if s.facts["task_completed"] != 1 {
		t.Errorf("the answer is late, and the call under way is waited for:\n%s", strings.Join(told, "\n"))
	}
}

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
edition: 2
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
