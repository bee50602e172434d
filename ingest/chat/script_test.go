package chat_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/ingest/runs"
	"podium/schemas"
)

const (
	token      = "correct-horse-battery"
	otherToken = "staple-of-another-one"
	profile    = "praxis"
)

func newAdapter(t *testing.T, core bus.Core, change ...func(*chat.Config)) *chat.Adapter {
	t.Helper()
	config := chat.Config{
		Channels: map[string]chat.Channel{
			"web":   {Profile: profile, Token: token},
			"other": {Profile: profile, Token: otherToken},
		},
		Runs: runs.Config{CapabilityKey: bytes.Repeat([]byte{7}, 32)},
	}
	for _, c := range change {
		c(&config)
	}
	adapter, err := chat.New(config, core, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// A call is one request to an adapter, by the channel's token unless it says otherwise.
type call struct {
	method, path, body string
	header             http.Header
}

func post(channel, body string, header ...string) call {
	c := call{method: http.MethodPost, path: "/v1/chat/" + channel, body: body, header: http.Header{}}
	c.header.Set("Content-Type", "application/json")
	c.header.Set("Authorization", "Bearer "+token)
	return c.with(header...)
}

func get(path string, header ...string) call {
	return call{method: http.MethodGet, path: path, header: http.Header{}}.with(header...)
}

// with sets headers: name, value, name, value; an empty value removes one.
func (c call) with(header ...string) call {
	c.header = c.header.Clone()
	for i := 0; i < len(header); i += 2 {
		if c.header.Set(header[i], header[i+1]); header[i+1] == "" {
			c.header.Del(header[i])
		}
	}
	return c
}

func (c call) request(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	r.Header = c.header
	return r
}

func (c call) do(t *testing.T, adapter *chat.Adapter) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	adapter.Handler().ServeHTTP(recorder, c.request(t.Context()))
	return recorder
}

// expect does a call, checks its status, and reads its document.
func expect[T any](t *testing.T, adapter *chat.Adapter, c call, status int) (T, http.Header) {
	t.Helper()
	recorder := c.do(t, adapter)
	if recorder.Code != status {
		t.Fatalf("%s %s: status %d, want %d: %s", c.method, c.path, recorder.Code, status, recorder.Body)
	}
	return read[T](t, recorder.Body.Bytes()), recorder.Header()
}

func read[T any](t *testing.T, body []byte) (document T) {
	t.Helper()
	if err := schemas.Unmarshal(body, &document); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return document
}

func accept(t *testing.T, adapter *chat.Adapter, c call) chat.Accepted {
	t.Helper()
	accepted, _ := expect[chat.Accepted](t, adapter, c, http.StatusAccepted)
	return accepted
}

// inputs returns the events that the adapter has published.
func inputs(t *testing.T, ledger bus.Ledger) []schemas.Event {
	t.Helper()
	var events []schemas.Event
	for shard := range ledger.Shards() {
		for message, err := range ledger.Scan(t.Context(), bus.ShardStream(shard), 1, bus.InSubject("chat", shard)) {
			if err != nil {
				t.Fatal(err)
			}
			event, err := binding.Decode(message)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, event)
		}
	}
	return events
}

// A script is a supervisor that does as it is told: it appends the records of
// one session by hand.
type script struct {
	t       *testing.T
	session string
	records *bustest.Script
}

func newScript(t *testing.T, ledger bus.Ledger, session string) *script {
	t.Helper()
	return &script{t: t, session: session, records: bustest.NewScript(t, ledger, session)}
}

// record appends one record and returns its sequence. It may be called from any
// goroutine.
func (s *script) record(facts ...schemas.Fact) uint64 {
	s.t.Helper()
	_, sequence := s.records.Record(facts...)
	return sequence
}

func publish(t *testing.T, ledger bus.Ledger, subject string, event schemas.Event) uint64 {
	t.Helper()
	message, err := binding.Encode(subject, &event)
	if err != nil {
		t.Error(err)
	}
	ack, err := bus.Append(t.Context(), ledger, message, bus.Expect{})
	if err != nil {
		t.Error(err)
	}
	return ack.Sequence
}

func received(a chat.Accepted, run int, disposition schemas.Disposition) schemas.Fact {
	return &schemas.MessageReceived{ID: a.ID, Sequence: a.Sequence, Run: run, Disposition: disposition}
}

func incoming(a chat.Accepted) schemas.Incoming {
	return schemas.Incoming{
		Sequence: a.Sequence, ID: a.ID, Channel: schemas.ChannelChat, Language: "en",
		Text:  schemas.Content{Result: schemas.Result{Text: "2+2?"}},
		Reply: &schemas.Reply{Agent: "chat", Provider: string(schemas.ProviderWebhook), Channel: "web", Thread: "t"},
	}
}

func started(a chat.Accepted, run int) schemas.Fact {
	return &schemas.RunStarted{Run: run, Profile: profile, Message: incoming(a)}
}

// begin is the record that starts a run, as a session writes it.
func (s *script) begin(a chat.Accepted, run int) uint64 {
	s.t.Helper()
	return s.record(received(a, run, schemas.DispositionStarted), started(a, run),
		&schemas.PlanCreated{Run: run, Tasks: []schemas.PlannedTask{{Task: "t1"}}},
		&schemas.TaskRouted{Run: run, Task: "t1", Decision: schemas.RouteDecision{NextAgent: "calculator"}},
		&schemas.TaskDispatched{Run: run, Task: "t1", Agent: "calculator", Attempt: 1, Request: firstRequest})
}

// firstRequest is the one of every run's first attempt.
const firstRequest = "5b1c7d0e-7a3f-4d52-9a1e-2f6c0f6a8e11"

// work says that the agent has begun.
func (s *script) work(run int) uint64 {
	s.t.Helper()
	return s.record(&schemas.TaskStarted{Run: run, Task: "t1", Attempt: 1})
}

// settle fixes the answer; the delivery is under way.
func (s *script) settle(run int, answer ...schemas.Content) uint64 {
	s.t.Helper()
	settled := schemas.RunSettled{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopCompleted}
	for _, body := range answer {
		settled.Answer = append(settled.Answer, schemas.AnswerPart{Task: "t1", Body: body})
	}
	return s.record(&schemas.TaskCompleted{Run: run, Task: "t1", Attempt: 1, Result: settled.Answer[0].Body},
		&settled,
		&schemas.TaskDispatched{Run: run, Task: schemas.DeliveryTask, Agent: "chat", Attempt: 1})
}

func (s *script) end(run int) uint64 {
	s.t.Helper()
	return s.record(&schemas.TaskCompleted{Run: run, Task: schemas.DeliveryTask, Attempt: 1},
		&schemas.RunEnded{Run: run, Status: schemas.RunCompleted, Reason: schemas.StopCompleted})
}

func text(words string) schemas.Content { return schemas.Content{Result: schemas.Result{Text: words}} }

// pathOf returns a URL that an adapter without a base gives out, without its key.
func pathOf(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path
}

// A faulty ledger fails every publish with its error, when it has one.
type faulty struct {
	*memory.Ledger
	err error
}

func (f *faulty) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if f.err != nil {
		done(bus.Ack{}, f.err)
		return
	}
	f.Ledger.Publish(message, expect, done)
}

// A silent ledger never says what became of a publish.
type silent struct{ *memory.Ledger }

func (silent) Publish(bus.Message, bus.Expect, func(bus.Ack, error)) {}

func secret() string {
	return "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{3}, 32))
}
