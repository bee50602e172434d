package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"podium/schemas"
)

// A plainAgent is an agent made of nothing but core NATS and the documented
// JSON: no library of this module, no CloudEvents headers, no JetStream client.
type plainAgent struct {
	t    *testing.T
	name string
	conn *nats.Conn
}

func connectPlain(t *testing.T, i *deployment, name string) *plainAgent {
	t.Helper()
	return connectBy(t, i.instance().NATS, filepath.Join(i.data, "credentials", "agent-"+name+".nk"), name)
}

func connectBy(t *testing.T, url, seed, name string) *plainAgent {
	t.Helper()
	login, err := nats.NkeyOptionFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url, login, nats.CustomInboxPrefix("_INBOX_"+name), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return &plainAgent{t: t, name: name, conn: conn}
}

// connectCore connects a NATS client with the core's own key.
func connectCore(t *testing.T, i *deployment) *nats.Conn {
	t.Helper()
	login, err := nats.NkeyOptionFromSeed(filepath.Join(i.data, "credentials", "core.nk"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(i.instance().NATS, login, nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// A plainRequest is what such an agent reads of a request.
type plainRequest struct {
	MessageID string `json:"message_id"`
	From      string `json:"from"`
	Payload   struct {
		PlanID string `json:"plan_id"`
		Tasks  []struct {
			TaskID  string `json:"task_id"`
			Context struct {
				Request string `json:"request"`
			} `json:"context"`
		} `json:"tasks"`
	} `json:"payload"`
	replyTo string
	message *nats.Msg
}

// pull takes one request.
func (a *plainAgent) pull() plainRequest {
	a.t.Helper()
	message := pullRequest(a.t, a.conn, a.name, `{"batch":1,"expires":30000000000}`)
	request := plainRequest{replyTo: message.Header.Get("ce-replyto"), message: message}
	if err := json.Unmarshal(message.Data, &request); err != nil || request.MessageID == "" {
		a.t.Fatalf("the request is %s (%v), with %v", message.Data, err, message.Header)
	}
	return request
}

// pullRequest pulls the next request of an agent. It pulls again when one has expired without a request, as agents do.
func pullRequest(t *testing.T, conn *nats.Conn, agent, pull string) *nats.Msg {
	t.Helper()
	for began := time.Now(); ; {
		message, err := conn.Request("CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK."+agent, []byte(pull), patience)
		if err != nil {
			t.Fatal(err)
		}
		if message.Header.Get("Status") != "408" || time.Since(began) > patience {
			return message
		}
	}
}

// acknowledge says that the request is dealt with.
func (a *plainAgent) acknowledge(request plainRequest) {
	a.t.Helper()
	if _, err := a.conn.Request(request.message.Reply, []byte("+ACK"), patience); err != nil {
		a.t.Fatal(err)
	}
}

// publish publishes a body as it is and waits until it is stored.
func (a *plainAgent) publish(subject, body string) {
	a.t.Helper()
	stored, err := a.conn.Request(subject, []byte(body), patience)
	if err != nil {
		a.t.Fatalf("publish to %s: %v", subject, err)
	}
	var ack struct{ Stream string }
	if err := json.Unmarshal(stored.Data, &ack); err != nil || ack.Stream == "" {
		a.t.Fatalf("publish to %s: %s", subject, stored.Data)
	}
}

// publishEvent publishes an answer as a CloudEvent in binary mode, which says
// what request and which attempt of it the answer is for.
func (a *plainAgent) publishEvent(request plainRequest, body string) {
	a.t.Helper()
	asked := request.message.Header
	message := &nats.Msg{Subject: request.replyTo, Data: []byte(body), Header: nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {uuid.NewString()}, "ce-source": {"/podium/" + a.name},
		"ce-type": {"podium.execution_response.v1"}, "ce-subject": asked["ce-subject"], "ce-attempt": asked["ce-attempt"],
		"ce-causationid": asked["ce-id"], "ce-time": {time.Now().UTC().Format(time.RFC3339)},
	}}
	if _, err := a.conn.RequestMsg(message, patience); err != nil {
		a.t.Fatal(err)
	}
}

// response is the documented answer, written by hand.
func (r plainRequest) response(agent, status, text string) string {
	return fmt.Sprintf(`{"message_id":%q,"from":%q,"to":%q,"type":"execution_response","timestamp":%q,"in_reply_to":%q,`+
		`"payload":{"status":%q,"plan_id":%q,"result":{"text":%q}}}`,
		uuid.NewString(), agent, r.From, time.Now().UTC().Format(time.RFC3339), r.MessageID, status, r.Payload.PlanID, text)
}

// progress is the documented update, which names the plan and nothing else.
func (r plainRequest) progress(agent string, percentage int, message string) string {
	return fmt.Sprintf(`{"message_id":%q,"from":%q,"to":%q,"type":"progress_update","timestamp":%q,`+
		`"payload":{"plan_id":%q,"progress_percentage":%d,"tasks_completed":[],"tasks_in_progress":[{"task_id":%q,"agent":%q,"started_at":%q}],`+
		`"tasks_pending":[],"tasks_blocked":[],"message":%q}}`,
		uuid.NewString(), agent, r.From, time.Now().UTC().Format(time.RFC3339), r.Payload.PlanID, percentage,
		r.Payload.Tasks[0].TaskID, agent, time.Now().UTC().Format(time.RFC3339), message)
}

const externalConfig = `
chat: {channels: {web: {profile: desk, secret: %q}}}
agents:
  alpha: {kind: external}
  beta: {kind: external}
profiles:
  desk:
    agents: [alpha, beta]
    routers:
      - {kind: keywords, groups: [{agent: beta, keywords: [beta]}]}
      - {kind: default, agent: alpha}
    retry: {attempts: 3, wait: 100ms}
`

// TestPlainNATSAgent: any NATS client in any language can be an agent. It may
// answer where the request says, or on its own subject without a shard.
func TestPlainNATSAgent(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	agent := connectPlain(t, i, "alpha")
	for _, c := range []struct {
		name     string
		response func(plainRequest) string // subject
		progress string
	}{
		{"on its own subject", func(plainRequest) string { return "podium.agent.alpha.response" }, "podium.agent.alpha.progress"},
		{"where the request says", func(r plainRequest) string { return r.replyTo }, "podium.agent.alpha.progress"},
	} {
		sending := spawn(t, "--data", i.data, "send", "What says "+c.name+"?", "--wait")
		request := agent.pull()
		if got := request.Payload.Tasks[0].Context.Request; !strings.Contains(got, "What says "+c.name) {
			t.Errorf("%s: the agent is asked %q", c.name, got)
		}
		if !strings.HasPrefix(request.replyTo, "podium.agent.alpha.response.") {
			t.Errorf("%s: replyto is %q", c.name, request.replyTo)
		}
		agent.publish(c.progress, request.progress("alpha", 40, "reading "+c.name))
		sending.says(t, "reading "+c.name)
		agent.publish(c.response(request), request.response("alpha", "completed", "a plain answer "+c.name))
		agent.acknowledge(request)
		sending.ends(t, exitOK)
		if !strings.HasSuffix(strings.TrimSpace(sending.stdout.String()), "a plain answer "+c.name) {
			t.Errorf("%s: the answer is %s", c.name, sending.stdout)
		}
	}
	i.stop()
	i.verify()
	// It has announced nothing, and the server has counted anew: still nothing says that it was never there.
	i.up()
	i.process.says(t, "nobody serves agent alpha, and no sign of life of it is on record")
	i.process.says(t, "nobody serves agent beta, and no sign of life of it is on record")
	for _, row := range lines[struct {
		Name  string
		State schemas.AgentState
	}](t, i.podium("agents", "-o", "json")) {
		if want := map[string]schemas.AgentState{"alpha": schemas.AgentLate, "beta": schemas.AgentNever}[row.Name]; want != "" && row.State != want {
			t.Errorf("%s is %s, want %s", row.Name, row.State, want)
		}
	}
	if said := i.podium("agents").succeeds(t).stdout; !strings.Contains(said, "before the start") {
		t.Errorf("of one that was there before the start it says\n%s", said)
	}
}

// TestAnswersThatNameNoRequestAreShown: an answer that is not JSON names no request, so that its attempt waits for its deadline. The run says that
// there is such an answer, what is wrong with it, and how it begins.
func TestAnswersThatNameNoRequestAreShown(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	agent := connectPlain(t, i, "alpha")
	sending := spawn(t, "--data", i.data, "send", "What says it?", "--wait")
	request := agent.pull()
	agent.publish("podium.agent.alpha.progress", request.progress("alpha", 40, "reading"))
	sending.says(t, "reading")
	run := lines[struct{ ID string }](t, i.podium("runs", "-o", "json"))[0].ID
	agent.publish(request.replyTo, "Good morning \x1b[2J "+strings.Repeat("and so on ", 100))
	agent.publish("podium.agent.alpha.response", `["good", "mor`)
	agent.publish(request.replyTo, `{"in_reply_to": "`+request.MessageID[:35]+map[bool]string{true: "1", false: "0"}[strings.HasSuffix(request.MessageID, "0")]+`"}`) // to another request
	var shown string
	eventually(t, "both answers are shown", func() bool {
		shown = i.podium("runs", "show", run).succeeds(t).stdout
		return strings.Count(shown, "an answer of alpha, which names no request and may be to this run, cannot be read") == 2
	})
	for _, want := range []string{`it begins with "Good morning \x1b[2J and so on and so on an";`, `it begins with "[\"good\", \"mor";`, "podium quarantine show PODIUM_"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	agent.publish(request.replyTo, request.response("alpha", "completed", "Here it is."))
	agent.acknowledge(request)
	sending.ends(t, exitOK)
	if shown = i.podium("runs", "show", run).succeeds(t).stdout; strings.Contains(shown, "cannot be read") {
		t.Errorf("of a run that was answered at its first attempt:\n%s", shown)
	}
}

// TestAgentExec: a program of another process is an agent; what it says on
// standard error is seen by whoever watches, while it works.
func TestAgentExec(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	unknown := i.podium("agent", "exec", "--name", "alpha", "--", "cat")
	if unknown.code == exitOK || !strings.Contains(unknown.stderr, "podium up") {
		t.Errorf("without an instance: exit code %d, %s", unknown.code, unknown.stderr)
	}
	i.up()
	unknown = i.podium("agent", "exec", "--name", "gamma", "--", "cat")
	if unknown.code == exitOK || !strings.Contains(unknown.stderr, "gamma: {kind: external}") {
		t.Errorf("an agent that is not configured: exit code %d, %s", unknown.code, unknown.stderr)
	}
	latch := filepath.Join(i.folder, "latch")
	script := filepath.Join(i.folder, "script.sh")
	const text = `read -r request
echo "halfway there" >&2
while [ ! -e %q ]; do sleep 0.02; done
echo "made of ${#request} bytes"
`
	if err := os.WriteFile(script, fmt.Appendf(nil, text, latch), 0o600); err != nil {
		t.Fatal(err)
	}
	worker := spawn(t, "--data", i.data, "agent", "exec", "--name", "alpha", "--", "sh", script)
	worker.says(t, "agent alpha takes requests")
	i.podium("send", "Count this").succeeds(t)
	eventually(t, "there is a run", func() bool { return len(i.runs()) == 1 })
	watching := spawn(t, "--data", i.data, "runs", "watch", i.runs()[0].ID)
	watching.says(t, "halfway there")
	if agents := i.podium("agents").succeeds(t).stdout; !strings.Contains(agents, "alpha") || !strings.Contains(agents, "exec") {
		t.Errorf("agents lists\n%s", agents)
	}
	if err := os.WriteFile(latch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	watching.ends(t, exitOK)
	if !strings.Contains(watching.stdout.String(), "\nmade of ") {
		t.Errorf("the answer is missing:\n%s", watching.stdout)
	}
	worker.stop(t)
	i.stop()
	i.verify()
}

// TestAgentSpeaksForItselfOnly_G40: on the running service too, the key of one
// agent opens nothing of another's, and nothing of the ledger.
func TestAgentSpeaksForItselfOnly_G40(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	beta := connectPlain(t, i, "beta")
	refused := make(chan string, 16)
	beta.conn.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err.Error() })
	for _, subject := range []string{
		"podium.agent.alpha.response.0",
		"podium.agent.alpha.progress",
		"podium.control.0",
		"podium.in.cli.0",
		"podium.session.0.00000000-0000-5000-8000-000000000000",
		"podium.shard.0",
		"CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha",
		"$JS.API.STREAM.DELETE.PODIUM_0",
	} {
		if err := beta.conn.Publish(subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		select {
		case violation := <-refused:
			if !strings.Contains(violation, "Permissions Violation for Publish to \""+subject) {
				t.Errorf("%s: %s", subject, violation)
			}
		case <-time.After(patience):
			t.Fatalf("%s is not refused", subject)
		}
	}
	if _, err := beta.conn.SubscribeSync("podium.agent.alpha.request"); err != nil {
		t.Fatal(err)
	}
	select {
	case violation := <-refused:
		if !strings.Contains(violation, "Permissions Violation for Subscription") {
			t.Error(violation)
		}
	case <-time.After(patience):
		t.Fatal("another's requests can be read")
	}
	if stored := i.podium("replay", "--work", "-o", "json").succeeds(t).stdout; strings.Contains(stored, "podium.agent.alpha") {
		t.Errorf("something was stored:\n%s", stored)
	}
}

// TestCancel: a person stops a run that nobody works on; whoever waits is told. The reason is shown to whoever reads the ledger, and stands in no log.
func TestCancel(t *testing.T) {
	t.Parallel()
	i := install(t, fmt.Sprintf(externalConfig, webSecret))
	i.up()
	sending := spawn(t, "--data", i.data, "send", "Who answers?", "--wait")
	sending.says(t, "request to alpha, attempt 1")
	id := i.runs()[0].ID
	if open := i.podium("runs", "list", "--status", "open").succeeds(t).stdout; !strings.Contains(open, id) {
		t.Errorf("it is not among the open runs:\n%s", open)
	}
	i.podium("runs", "cancel", id[:8], "--reason", "asked by mistake").succeeds(t)
	sending.ends(t, exitFailed)
	if says := sending.stderr.String(); !strings.Contains(says, "ended cancelled") {
		t.Errorf("send says %q", says)
	}
	if shown := i.podium("runs", "show", id).succeeds(t).stdout; !strings.Contains(shown, "cancelled") || !strings.Contains(shown, "\ntold      cancel by "+systemUser()+" at the command line: asked by mistake\n") {
		t.Errorf("runs show says\n%s", shown)
	}
	if told := i.podium("replay", "--run", id).succeeds(t).stdout; !strings.Contains(told, "\n    cancel by "+systemUser()+" at the command line: asked by mistake\n") {
		t.Errorf("replay says\n%s", told)
	}
	if says := i.process.stdout.String() + i.process.stderr.String(); strings.Contains(says, "by mistake") {
		t.Errorf("the reason stands in what the service says:\n%s", says)
	}
	if open := i.podium("runs", "list", "--status", "open", "-o", "json").succeeds(t).stdout; open != "" {
		t.Errorf("still open: %s", open)
	}
	i.stop()
	i.verify()
}
