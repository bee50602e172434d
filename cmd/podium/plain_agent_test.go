package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/schemas"
	"podium/schemas/workflow"
)

const clerkConfig = `
agents:
  clerk: {kind: external, concurrency: 2, heartbeat: 10s}
  courier: {kind: external, side_effects: external}
  echo: {kind: echo}
  office: {kind: supervisor, profile: desk}
profiles:
  desk:
    agents: [clerk, {name: courier, on_tainted: allow}, echo]
    routers:
      - {kind: assigned}
      - {kind: keywords, groups: [{agent: courier, keywords: [deliver]}, {agent: echo, keywords: [say]}]}
      - {kind: default, agent: clerk}
    execution: {mode: dag}
    retry: {attempts: 2, wait: 100ms}
  hasty:
    agents: [clerk]
    routers: [{kind: default, agent: clerk}]
    deadlines: {queue: 300ms, work: 300ms}
    retry: {attempts: 1}
`

// TestAgentByNATSAlone does what docs/write-an-agent.md says, with a NATS client, the
// examples of that page, and nothing of this module.
func TestAgentByNATSAlone(t *testing.T) {
	t.Parallel()
	i := install(t, clerkConfig)
	i.up()
	clerk := &clerk{plainAgent: connectPlain(t, i, "clerk"), page: pageOf(t, "write-an-agent.md"), i: i}
	clerk.cancelled = clerk.hears("podium.agent.clerk.cancel")
	for _, chapter := range []struct {
		name string
		does func()
	}{
		{"connecting", clerk.connects},
		{"announcing", clerk.announces},
		{"a JetStream client", clerk.binds},
		{"progress, and an answer in words", clerk.works},
		{"a failed answer, and the next attempt", clerk.fails},
		{"a request that comes again", clerk.isAskedAgain},
		{"an expired request", clerk.skips},
		{"a cancel hint", clerk.isCancelled},
		{"answers that nobody can read", clerk.isMisread},
		{"files", clerk.passesFiles},
		{"bodies in the store", clerk.refersToBodies},
		{"permits", clerk.asksForPermits},
	} {
		if !t.Run(chapter.name, func(t *testing.T) {
			clerk.t = t
			chapter.does()
		}) {
			return
		}
	}
	clerk.t = t
	i.stop()
	i.verify()
}

// A clerk is an agent that knows the page.
type clerk struct {
	*plainAgent

	page      page
	i         *deployment
	cancelled *nats.Subscription
}

// hears subscribes, and returns when the server knows.
func (a *plainAgent) hears(subject string) *nats.Subscription {
	a.t.Helper()
	subscription, err := a.conn.SubscribeSync(subject)
	if err == nil {
		err = a.conn.Flush()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return subscription
}

// example is a message of the page about a request: the n-th of its type.
func (c *clerk) example(kind string, n int, r plainRequest, change ...func(payload map[string]any)) string {
	c.t.Helper()
	var message map[string]any
	if err := json.Unmarshal([]byte(c.page.bodies[kind][n]), &message); err != nil {
		c.t.Fatal(err)
	}
	message["message_id"] = uuid.NewSHA1(uuid.MustParse(r.MessageID), []byte(kind+strconv.Itoa(n))).String()
	if kind == schemas.EnvelopeTypePermitRequest {
		message["message_id"] = uuid.NewString()
	}
	message["from"], message["to"], message["in_reply_to"] = c.name, r.From, r.MessageID
	message["timestamp"] = time.Now().UTC().Format(time.RFC3339)
	if payload, has := message["payload"].(map[string]any); has {
		payload["plan_id"] = r.Payload.PlanID
		for _, apply := range change {
			apply(payload)
		}
	}
	body, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

func text(words string) func(map[string]any) {
	return func(payload map[string]any) { payload["result"] = map[string]any{"text": words} }
}

// answers ends a request with words.
func (c *clerk) answers(r plainRequest, words string) {
	c.t.Helper()
	c.publish(r.replyTo, c.example(schemas.EnvelopeTypeExecutionResponse, 0, r, text(words)))
	c.acknowledge(r)
}

// asks has somebody send words, and returns the request that they become.
func (c *clerk) asks(arguments ...string) (*background, plainRequest) {
	c.t.Helper()
	sending := spawn(c.t, append([]string{"--data", c.i.data, "send", "--wait"}, arguments...)...)
	return sending, c.pull()
}

// isTold expects the answer that the person got.
func isTold(t *testing.T, sending *background, words string) {
	t.Helper()
	sending.ends(t, exitOK)
	if got := strings.TrimSpace(sending.stdout.String()); !strings.HasSuffix(got, words) {
		t.Errorf("the person reads %q, want %q", got, words)
	}
}

func (c *clerk) connects() {
	t := c.t
	login, err := nats.NkeyOptionFromSeed(filepath.Join(c.i.data, "credentials", "agent-clerk.nk"))
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 16)
	conn, err := nats.Connect(c.i.instance().NATS, login, nats.Timeout(patience), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Request("podium.agent.clerk.alive", nil, 300*time.Millisecond); err == nil {
		t.Error("the default inbox prefix is answered")
	}
	if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("the default inbox prefix: %v", err)
	}
}

// said is the answer of a service, and the code of its refusal.
func (a *plainAgent) said(service, body string) (string, *nats.Msg) {
	a.t.Helper()
	answer, err := a.conn.Request("podium.agent."+a.name+"."+service, []byte(body), patience)
	if err != nil {
		a.t.Fatal(err)
	}
	if (answer.Header.Get("Nats-Service-Error") == "") != (len(answer.Header) == 0) {
		a.t.Errorf("%s is answered with %v", service, answer.Header)
	}
	return answer.Header.Get("Nats-Service-Error-Code"), answer
}

func (c *clerk) announces() {
	t := c.t
	if code, _ := c.said("alive", ""); code != "500" {
		t.Errorf("alive before an announcement: %q", code)
	}
	if code, answer := c.said("announce", c.page.bodies["agent"][0]); code != "" || len(answer.Data) > 0 {
		t.Errorf("the announcement: %v %s", answer.Header, answer.Data)
	}
	if code, _ := c.said("alive", ""); code != "" {
		t.Errorf("alive: %q", code)
	}
	if listed := c.i.podium("agents").succeeds(t).stdout; !regexp.MustCompile(`(?m)^clerk +python +ok +2 `).MatchString(listed) {
		t.Errorf("agents lists\n%s", listed)
	}
	if code, _ := connectPlain(t, c.i, "echo").said("announce", `{"name":"echo"}`); code != "403" {
		t.Errorf("an agent of the instance itself is announced: %q", code)
	}
}

// binds takes a request with the library's client of JetStream.
func (c *clerk) binds() {
	t := c.t
	sending := spawn(t, "--data", c.i.data, "send", "--wait", "--profile", "desk", "By a library")
	js, err := jetstream.NewWithAPIPrefix(c.conn, "CORE.API")
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.Consumer(t.Context(), "PODIUM_WORK", "clerk")
	if err != nil {
		t.Fatal(err)
	}
	if made := consumer.CachedInfo().Config; made.FilterSubject != "podium.agent.clerk.request" || made.AckWait != 15*time.Second || made.MaxAckPending != 2 || made.MaxDeliver != -1 {
		t.Errorf("the consumer is %+v", made)
	}
	message, err := consumer.Next(jetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	request := plainRequest{replyTo: message.Headers().Get("ce-replyto")}
	if err := json.Unmarshal(message.Data(), &request); err != nil {
		t.Fatal(err)
	}
	c.publish(request.replyTo, c.example(schemas.EnvelopeTypeExecutionResponse, 0, request))
	if err := message.DoubleAck(t.Context()); err != nil {
		t.Fatal(err)
	}
	isTold(t, sending, "Otters hold hands when they sleep.")
}

// works says how far it is, more often than it may, and answers twice.
func (c *clerk) works() {
	t := c.t
	sending, request := c.asks("--profile", "desk", "A report about otters, please")
	asked := request.message.Header
	if asked.Get("ce-id") != request.MessageID || asked.Get("ce-attempt") != "1" || len(asked.Get("ce-effectid")) != 36 ||
		!regexp.MustCompile(`^podium\.agent\.clerk\.response\.\d$`).MatchString(request.replyTo) || c.expired(request) {
		t.Errorf("the request has %v", asked)
	}
	if len(request.Payload.Tasks) != 1 || request.Payload.Tasks[0].Context.Request != "A report about otters, please" {
		t.Errorf("the request is %s", request.message.Data)
	}
	if err := request.message.Respond([]byte("+WPI")); err != nil {
		t.Fatal(err)
	}
	progress := strings.Replace(request.replyTo, ".response", ".progress", 1)
	c.publish(progress, c.example(schemas.EnvelopeTypeProgressUpdate, 0, request))
	sending.says(t, "reading about otters")
	refused := c.floods(progress, func(n int) string {
		message := strings.Replace(c.example(schemas.EnvelopeTypeProgressUpdate, 0, request), "reading", "reading page "+strconv.Itoa(n), 1)
		return regexp.MustCompile(`"message_id":"[^"]*"`).ReplaceAllString(message, `"message_id":"`+uuid.NewString()+`"`)
	})
	if refused == "" {
		t.Fatal("no progress was refused")
	}
	eventually(t, "the same is stored later", func() bool { return c.outcome(progress, refused) != 503 })
	body := c.example(schemas.EnvelopeTypeExecutionResponse, 0, request)
	first, err := c.conn.Request(request.replyTo, []byte(body), patience)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.conn.Request(request.replyTo, []byte(body), patience)
	if err != nil || !bytes.Equal(first.Data, again.Data) || !regexp.MustCompile(`^{"stream":"PODIUM_\d","seq":\d+}$`).Match(first.Data) {
		t.Errorf("the answer is acknowledged by %s, its repeat by %s (%v)", first.Data, again.Data, err)
	}
	c.acknowledge(request)
	isTold(t, sending, "Otters hold hands when they sleep.")
}

// outcome publishes, and returns the code of a refusal, or 0.
// floods publishes 500 messages at once. It returns one that was refused with 503; "" is none.
func (c *clerk) floods(subject string, message func(n int) string) (refused string) {
	c.t.Helper()
	const messages = 500
	inbox := c.conn.NewInbox()
	answers, err := c.conn.SubscribeSync(inbox + ".*")
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	sent := make([]string, messages)
	for n := range sent {
		sent[n] = message(n)
		if err := c.conn.PublishRequest(subject, inbox+"."+strconv.Itoa(n), []byte(sent[n])); err != nil {
			c.t.Fatal(err)
		}
	}
	for range sent {
		answer, err := answers.NextMsg(patience)
		if err != nil {
			c.t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimPrefix(answer.Subject, inbox+"."))
		if err != nil {
			c.t.Fatal(err)
		}
		if bytes.Contains(answer.Data, []byte(`"code":503`)) {
			refused = sent[n]
		}
	}
	return refused
}

func (c *clerk) outcome(subject, body string) int {
	c.t.Helper()
	answer, err := c.conn.Request(subject, []byte(body), patience)
	if err != nil {
		c.t.Fatal(err)
	}
	var said struct {
		Stream string
		Error  struct {
			Code        int
			Description string
		}
	}
	if err := json.Unmarshal(answer.Data, &said); err != nil || (said.Stream == "") == (said.Error.Description == "") {
		c.t.Fatalf("publish to %s: %s", subject, answer.Data)
	}
	return said.Error.Code
}

func (c *clerk) expired(r plainRequest) bool {
	c.t.Helper()
	until, err := time.Parse(time.RFC3339, r.message.Header.Get("ce-expires"))
	if err != nil {
		c.t.Fatal(err)
	}
	return time.Now().After(until)
}

func (c *clerk) fails() {
	t := c.t
	sending, first := c.asks("--profile", "desk", "Try this")
	c.publish(first.replyTo, c.example(schemas.EnvelopeTypeExecutionResponse, 1, first))
	c.acknowledge(first)
	second := c.pull()
	if h := second.message.Header; second.MessageID == first.MessageID || h.Get("ce-attempt") != "2" || h.Get("ce-effectid") != first.message.Header.Get("ce-effectid") {
		t.Errorf("the second attempt has %v", h)
	}
	c.answers(second, "now it works")
	isTold(t, sending, "now it works")
}

// handedOut is the number in the reply subject that the page speaks of.
func handedOut(r plainRequest) string {
	return strings.Split(strings.TrimPrefix(r.message.Reply, "$JS.ACK.PODIUM_WORK."), ".")[1]
}

func (c *clerk) isAskedAgain() {
	t := c.t
	sending, first := c.asks("--profile", "desk", "Once more")
	if err := first.message.Respond([]byte("-NAK")); err != nil {
		t.Fatal(err)
	}
	again := c.pull()
	if again.MessageID != first.MessageID || handedOut(first) != "1" || handedOut(again) != "2" {
		t.Errorf("asked as %s (%s), then as %s (%s)", first.MessageID, first.message.Reply, again.MessageID, again.message.Reply)
	}
	c.publish(again.replyTo, c.example(schemas.EnvelopeTypeExecutionResponse, 0, again, text("answered twice")))
	if err := again.message.Respond([]byte(`-NAK {"delay": 50000000}`)); err != nil { // as if it had died here
		t.Fatal(err)
	}
	if third := c.pull(); handedOut(third) != "3" || third.MessageID != first.MessageID {
		t.Errorf("asked as %s", third.message.Reply)
	} else {
		c.answers(third, "answered twice")
	}
	isTold(t, sending, "answered twice")
}

// skips is handed a request for which nobody waits any more, and goes on to the next.
func (c *clerk) skips() {
	t := c.t
	late, request := c.asks("--profile", "hasty", "Too late")
	eventually(t, "its time is up", func() bool { return c.expired(request) })
	if err := request.message.Respond([]byte("-NAK")); err != nil {
		t.Fatal(err)
	}
	late.ends(t, exitFailed)
	sending := spawn(t, "--data", c.i.data, "send", "--wait", "--profile", "desk", "In time")
	skipped := 0
	for request = c.pull(); c.expired(request); request = c.pull() {
		c.acknowledge(request)
		skipped++
	}
	if skipped != 1 {
		t.Errorf("%d requests had expired", skipped)
	}
	c.answers(request, "in time")
	isTold(t, sending, "in time")
}

func (c *clerk) isCancelled() {
	t := c.t
	sending, request := c.asks("--profile", "desk", "Never mind")
	c.publish(strings.Replace(request.replyTo, ".response", ".progress", 1), c.example(schemas.EnvelopeTypeProgressUpdate, 0, request))
	run, _, _ := strings.Cut(request.message.Header.Get("ce-subject"), "/")
	c.i.podium("runs", "cancel", run).succeeds(t)
	for {
		hint, err := c.cancelled.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		if string(hint.Data) == request.MessageID {
			break // hints about expired requests may stand before it
		}
	}
	c.acknowledge(request)
	sending.ends(t, exitFailed)
}

func (c *clerk) isMisread() {
	t := c.t
	sending, request := c.asks("--profile", "desk", "Read this")
	c.publish(request.replyTo, "not JSON at all")
	eventually(t, "it is in quarantine", func() bool { return len(c.i.inQuarantine()[schemas.QuarantineMalformed]) == 1 })
	run, _, _ := strings.Cut(request.message.Header.Get("ce-subject"), "/")
	if task := c.i.run(run).Tasks[0]; task.State != workflow.TaskDispatched || task.Attempt != 1 {
		t.Errorf("the task is %+v", task)
	}
	c.publish(request.replyTo, c.example(schemas.EnvelopeTypeExecutionResponse, 0, request, func(payload map[string]any) { payload["status"] = "splendid" }))
	c.acknowledge(request)
	second := c.pull()
	if second.message.Header.Get("ce-attempt") != "2" {
		t.Errorf("next comes %v", second.message.Header)
	}
	c.answers(second, "legible")
	isTold(t, sending, "legible")
}

// A frame is the line of the artifact service, as the page has it.
type frame struct {
	Op        string   `json:"op,omitempty"`
	MediaType string   `json:"media_type,omitempty"`
	SHA256    string   `json:"sha256,omitempty"`
	Offset    int      `json:"offset,omitempty"`
	Parts     []string `json:"parts,omitempty"`
	Grants    []string `json:"grants,omitempty"`
	Request   string   `json:"request,omitempty"`
	Grant     string   `json:"grant,omitempty"`
	Size      int      `json:"size,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// asksForPermits acts for one run, and not for one that was cancelled.
func (c *clerk) asksForPermits() {
	t := c.t
	courier := &clerk{plainAgent: connectPlain(t, c.i, "courier"), page: c.page, i: c.i}
	permitted := courier.hears("podium.agent.courier.permitted")
	for _, cancelled := range []bool{false, true} {
		sending, request := courier.asks("--profile", "desk", "deliver this")
		if cancelled {
			run, _, _ := strings.Cut(request.message.Header.Get("ce-subject"), "/")
			c.i.podium("runs", "cancel", run).succeeds(t)
		}
		question := courier.example(schemas.EnvelopeTypePermitRequest, 0, request)
		var answer schemas.PermitAnswer
		eventually(t, "there is an answer", func() bool {
			courier.publish(strings.Replace(request.replyTo, ".response", ".permit", 1), question)
			said, err := permitted.NextMsg(time.Second)
			return err == nil && schemas.Unmarshal(said.Data, &answer) == nil && strings.Contains(question, answer.Permit)
		})
		if answer.Granted == cancelled || cancelled && answer.Reason != schemas.PermitCancelled && answer.Reason != schemas.PermitStale {
			t.Errorf("cancelled %t: %+v", cancelled, answer)
		}
		if answer.Granted {
			courier.answers(request, "delivered")
		} else {
			courier.acknowledge(request)
		}
		<-sending.exited
	}
}
