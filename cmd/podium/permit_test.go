package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"podium/schemas"
	"podium/schemas/workflow"
)

// letterConfig is a desk whose program writes letters, one at a time.
const letterConfig = `
chat: {channels: {web: {profile: desk, secret: %q, callback: %q}}}
agents:
  letters: {kind: exec, command: [sh, script.sh], side_effects: external, concurrency: 1, timeout: 2m}
profiles:
  desk:
    agents: [{name: letters, on_tainted: allow}]
    routers: [{kind: default, agent: letters}]
`

// TestCancelledRunSendsNothing: the request to send a letter stands in the agent's
// queue when its run is cancelled. Once the cancel is on record the letter is not
// sent any more, although the agent takes the request later and has heard no hint.
func TestCancelledRunSendsNothing(t *testing.T) {
	t.Parallel()
	var told answers
	i := install(t, fmt.Sprintf(letterConfig, webSecret, callback(t, &told)), oneShard)
	sent, latch := filepath.Join(i.folder, "sent"), filepath.Join(i.folder, "latch")
	i.write("script.sh", fmt.Sprintf("echo $PODIUM_RUN >> %q\nwhile [ ! -e %q ]; do sleep 0.02; done\necho sent\n", sent, latch))
	i.up()
	wanted := webhook{id: "wanted", text: "write to Ada", thread: "one"}.send(t, i.listen)
	eventually(t, "the agent writes the first letter, and has no room for another one", func() bool {
		_, err := os.Stat(sent)
		return err == nil
	})
	unwanted := webhook{id: "unwanted", text: "write to Bob", thread: "two"}.send(t, i.listen)
	var run workflow.RunHistory
	eventually(t, "the second letter is asked for", func() bool {
		for _, run = range i.runs() {
			if run.Session == unwanted.Session && len(run.Tasks) == 1 && run.Tasks[0].State == workflow.TaskDispatched {
				return true
			}
		}
		return false
	})
	i.podium("runs", "cancel", run.ID).succeeds(t)
	eventually(t, "the cancel is on record", func() bool { return i.run(run.ID).Status == schemas.RunCancelled })
	i.write("latch", "")
	eventually(t, "the agent asks for the second letter, and may not send it", func() bool {
		run = i.run(run.ID)
		return len(run.PermitsRefused) > 0
	})
	if refused := run.PermitsRefused[0]; refused.Agent != "letters" || refused.Task != "t1" {
		t.Errorf("refused is %+v", refused)
	}
	eventually(t, "both are told", func() bool { return told.answered() == 2 })
	if first := i.run(schemas.RunID(wanted.Session, 1)); first.Status != schemas.RunCompleted || first.Tasks[0].Permit == "" {
		t.Errorf("the first letter's run is %s, its permit %q", first.Status, first.Tasks[0].Permit)
	}
	i.stop()
	if got, err := os.ReadFile(sent); err != nil || string(got) != schemas.RunID(wanted.Session, 1)+"\n" {
		t.Errorf("letters are sent for %q, %v", got, err)
	}
	i.verify()
}

// TestPlainAgentAsksForAPermit: the documented JSON and two subjects are enough to
// ask before acting. Another agent's answers are not heard.
func TestPlainAgentAsksForAPermit(t *testing.T) {
	t.Parallel()
	i := install(t, strings.NewReplacer("alpha: {kind: external}", "alpha: {kind: external, side_effects: external}", "[alpha,", "[{name: alpha, on_tainted: allow},").Replace(fmt.Sprintf(externalConfig, webSecret)))
	i.up()
	agent := connectPlain(t, i, "alpha")
	heard, err := agent.conn.SubscribeSync("podium.agent.alpha.permitted")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cancel bool
		want   string
	}{{false, `"granted":true`}, {true, `"granted":false`}} {
		sending := spawn(t, "--data", i.data, "send", "Do it", "--wait")
		request := agent.pull()
		if c.cancel {
			var open []workflow.RunHistory
			eventually(t, "there is an open run", func() bool {
				open = slices.DeleteFunc(i.runs(), func(run workflow.RunHistory) bool { return run.Status != "" })
				return len(open) == 1
			})
			i.podium("runs", "cancel", open[0].ID).succeeds(t)
		}
		for range 2 { // the same question gets the same answer
			if got := agent.ask(request, heard); !strings.Contains(got, c.want) {
				t.Errorf("the agent hears %s, want %s", got, c.want)
			}
		}
		if !c.cancel {
			agent.publish(request.replyTo, request.response("alpha", "completed", "done"))
		}
		agent.acknowledge(request)
		<-sending.exited
	}
	i.stop()
	i.verify()
}

// ask asks for a permit, by hand, until it hears the answer.
func (a *plainAgent) ask(request plainRequest, heard *nats.Subscription) string {
	a.t.Helper()
	id := uuid.NewSHA1(uuid.Nil, []byte(request.MessageID)).String()
	question := fmt.Sprintf(`{"message_id":%q,"from":%q,"to":%q,"type":"permit_request","timestamp":%q,"in_reply_to":%q}`,
		id, a.name, request.From, time.Now().UTC().Format(time.RFC3339), request.MessageID)
	for ended := time.Now().Add(patience); time.Now().Before(ended); {
		a.publish(strings.Replace(request.replyTo, ".response.", ".permit.", 1), question)
		message, err := heard.NextMsg(time.Second)
		if err != nil {
			continue
		}
		var answer struct{ Permit string }
		if err := json.Unmarshal(message.Data, &answer); err != nil || answer.Permit != id {
			a.t.Fatalf("the answer is %s", message.Data)
		}
		return string(message.Data)
	}
	a.t.Fatal("there is no answer")
	return ""
}
