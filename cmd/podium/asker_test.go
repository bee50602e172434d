package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
)

const askerConfig = `
agents:
  echo: {kind: echo}
  office: {kind: supervisor, profile: desk}
profiles:
  desk: {language: en, agents: [echo], routers: [{kind: default, agent: echo}]}
`

// TestPlainNATSAsker: whoever holds the core's key gives a supervisor work with a NATS
// client and the documented JSON. The answer is where the rule says, whatever is named
// for it, and a request that cannot be done gets an answer that says so.
func TestPlainNATSAsker_M02(t *testing.T) {
	t.Parallel()
	i := install(t, askerConfig)
	i.up()
	conn := connectCore(t, i)
	answers, err := conn.SubscribeSync("podium.agent.office.response")
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, replyTo, to, priority, status string }{
		{"without replyto", "", "office", "medium", "completed"},
		{"with an inbox", inbox.Subject, "office", "medium", "completed"},
		{"with a shard that there is not", "podium.agent.office.response.4711", "office", "medium", "completed"},
		{"to somebody else", "", "echo", "medium", "failed"},
		{"that breaks the schema", "", "office", "whenever", "failed"},
	} {
		id := uuid.NewString()
		message := &nats.Msg{Subject: "podium.agent.office.request", Data: plainTask(id, c.to, c.priority, "say "+c.name)}
		if c.replyTo != "" {
			message.Header = nats.Header{
				"ce-specversion": {"1.0"}, "ce-id": {id}, "ce-source": {"/podium/planner"}, "ce-type": {"podium.execution_request.v1"}, "ce-replyto": {c.replyTo},
			}
		}
		if _, err := conn.RequestMsg(message, patience); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		said, err := answers.NextMsg(patience)
		if err != nil {
			t.Fatalf("%s: no answer: %v", c.name, err)
		}
		var answer struct {
			InReplyTo string `json:"in_reply_to"`
			Payload   struct {
				Status string `json:"status"`
				Result struct {
					Text string `json:"text"`
				} `json:"result"`
				Issues []struct {
					Description string `json:"description"`
				} `json:"issues_encountered"`
			} `json:"payload"`
		}
		if err := json.Unmarshal(said.Data, &answer); err != nil || answer.InReplyTo != id || answer.Payload.Status != c.status {
			t.Errorf("%s: %s (%v)", c.name, said.Data, err)
		}
		if done := c.status == "completed"; done != (answer.Payload.Result.Text == "say "+c.name) || done != (len(answer.Payload.Issues) == 0) {
			t.Errorf("%s: %s", c.name, said.Data)
		}
	}
	if early, err := inbox.NextMsg(time.Millisecond); err == nil {
		t.Errorf("the inbox got %s", early.Data)
	}
	i.stop()
	i.verify()
}

// plainTask is the documented request for one piece of work, written by hand.
func plainTask(id, to, priority, words string) []byte {
	return fmt.Appendf(nil, `{"message_id":%q,"from":"planner","to":%q,"type":"execution_request","timestamp":%q,`+
		`"payload":{"plan_id":%q,"request_id":"r-1","tasks":[{"task_id":"t1","description":%q,"assigned_to":%q,"dependencies":[],"priority":%q,`+
		`"context":{"files_to_modify":[],"references":[],"constraints":{}},"deliverables":[],"validation_criteria":[]}],`+
		`"agent_assignments":{%q:["t1"]},"validation_criteria":[],"risks":[]}}`,
		id, to, time.Now().UTC().Format(time.RFC3339), uuid.NewString(), words, to, priority, to)
}
