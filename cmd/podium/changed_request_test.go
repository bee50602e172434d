package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"podium/schemas"
)

const changedRequestConfig = `
agents:
  worker: {kind: exec, command: [bash, -c, 'cat >/dev/null; until [[ -e go ]]; do sleep 0.02; done; echo done'], timeout: 5m}
  team: {kind: supervisor, profile: desk}
profiles:
  desk:
    language: en
    agents: [worker]
    planner: {kind: external}
    routers: [{kind: assigned}, {kind: default, agent: worker}]
`

// TestChangedRequest: over plain NATS, a request that comes again is answered with what was done, byte for byte. Another one under its message_id is refused, while the first is worked on
// and afterwards, and is told what to do; the first is answered all the same. Under an id of its own it is done.
func TestChangedRequest(t *testing.T) {
	t.Parallel()
	i := install(t, changedRequestConfig)
	i.up()
	conn := connectCore(t, i)
	responses, err := conn.SubscribeSync("podium.agent.team.response")
	if err != nil {
		t.Fatal(err)
	}
	plan := uuid.NewString()
	ask := func(id, words string) {
		t.Helper()
		body := fmt.Sprintf(`{"message_id": %q, "from": "planner", "to": "team", "type": "execution_request", "timestamp": "2026-11-27T09:00:00Z", "payload": {"plan_id": %q, "request_id": "R",
			"tasks": [{"task_id": "a", "description": %q, "assigned_to": "worker", "dependencies": [], "priority": "high", "context": {}}, {"task_id": "b", "description": "Then this.", "assigned_to": "worker", "dependencies": ["a"], "priority": "high", "context": {}}],
			"agent_assignments": {"worker": ["a", "b"]}, "validation_criteria": [], "risks": []}}`, id, plan, words)
		if _, err := conn.RequestMsg(&nats.Msg{Subject: "podium.agent.team.request", Data: []byte(body)}, patience); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(id string, status schemas.ResponseStatus) (schemas.ExecutionResponse, []byte) {
		t.Helper()
		said, err := responses.NextMsg(patience)
		if err != nil {
			t.Fatalf("no response to %s: %v", id, err)
		}
		response, err := schemas.DecodeExecutionResponse(said.Data)
		if err != nil || response.InReplyTo != id || response.Payload.Status != status || response.Payload.PlanID != plan {
			t.Fatalf("%v: %s", err, said.Data)
		}
		return response, said.Data
	}
	refused := func(id string) string {
		t.Helper()
		response, _ := answered(id, schemas.StatusFailed)
		issues := response.Payload.IssuesEncountered
		if len(issues) != 1 || issues[0].Resolution != schemas.ResolutionEscalated || issues[0].ResolutionDetails != "Send it under a message_id of its own." ||
			!strings.Contains(issues[0].Description, "its message_id is that of another request") || issues[0].TaskID != "a" || issues[0].Agent != "team" {
			t.Errorf("it is refused by %+v", issues)
		}
		return response.MessageID
	}
	first, other := uuid.NewString(), uuid.NewString()
	ask(first, "Do this.")
	within(t, patience, "it is begun", func() bool { return len(i.runs()) == 1 })
	ask(first, "Do something else.")
	meanwhile := refused(first)
	ask(first, "Do this.") // which is worked on, and is answered once
	i.write("go", "")
	done, body := answered(first, schemas.StatusCompleted)
	ask(first, "Do this.")
	if _, again := answered(first, schemas.StatusCompleted); !bytes.Equal(again, body) {
		t.Errorf("it is answered again by\n%s and not\n%s", again, body)
	}
	ask(first, "Do something else.")
	if id := refused(first); id != meanwhile || id == done.MessageID {
		t.Errorf("the refusal is %s, before it was %s, and the answer is %s", id, meanwhile, done.MessageID)
	}
	ask(other, "Do something else.")
	answered(other, schemas.StatusCompleted)
	if runs := i.runs(); len(runs) != 2 {
		t.Errorf("there are %d runs", len(runs))
	}
	i.stop()
	i.verify()
}
