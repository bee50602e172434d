package session_test

import (
	"strings"
	"testing"
)

// TestArgumentsOfAnotherAgent: a fallback gets arguments that its own schema knows, whatever was asked for the agent before it.
func TestArgumentsOfAnotherAgent(t *testing.T) {
	t.Parallel()
	_, told := attack(t, `
profile attempts=1
waiting: {expire: 72h, asks: 2}
agents:
  - name: calculator
    fallback: clerk
    input_schema: {type: object, properties: {room: {type: integer, title: room}}, required: [room]}
    arguments: {arguments: [{path: room, pattern: "in room (\\d+)"}]}
  - name: clerk
    input_schema: {type: object, properties: {place: {type: string, title: place}}, required: [place], additionalProperties: false}
    arguments: {arguments: [{path: place, pattern: "in room (\\d+)"}]}
routers: [{kind: default, agent: calculator}]
----

chat id=c1 thread=t user=U1
Please calculate.
----

chat id=c2 thread=t user=U1
in room 4
----

answer task=t1 status=failed permanent
----
`)
	newest := told[len(told)-1]
	if !strings.Contains(newest, `arguments of clerk: {"place":"4"}`) || !strings.Contains(newest, "clerk asked") {
		t.Fatalf("the fallback is given what was filled for the agent before it:\n%s", newest)
	}
}
