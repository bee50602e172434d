package embedded_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/gate"
	"podium/bus/jetstream"
	"podium/schemas"
)

// strangers is a server with two external agents, alpha and beta, behind a gate.
func strangers(t *testing.T) (*embedded.Server, *jetstream.Core) {
	t.Helper()
	server := start(t, embedded.Config{External: []string{"alpha", "beta"}})
	c := gated(t, server, []string{"alpha", "beta"})
	for _, agent := range []string{"alpha", "beta"} {
		if err := c.Declare(t.Context(), agent, bus.Pool{Size: 4, AckWait: ackWait}); err != nil {
			t.Fatal(err)
		}
	}
	return server, c
}

func event(tb testing.TB, subject, eventType, request string, body []byte) bus.Message {
	tb.Helper()
	message, err := binding.Encode(subject, &schemas.Event{ID: uuid.NewString(), Source: "/podium/x", Type: eventType, CausationID: request, Data: body})
	if err != nil {
		tb.Fatal(err)
	}
	return message
}

// ask has a request go out, and returns its id.
func ask(tb testing.TB, c *jetstream.Core, agent string) string {
	tb.Helper()
	message := event(tb, bus.RequestSubject(agent), schemas.TypeExecutionRequest, "", []byte("{}"))
	if _, err := bus.Append(tb.Context(), c, message, bus.Expect{}); err != nil {
		tb.Fatal(err)
	}
	return message.Header["ce-id"][0]
}

// TestFloodIsNotStored: what an agent was not asked for does not fill the ledger,
// and nobody else waits for it: neither another agent nor what people send.
func TestFloodIsNotStored(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	before, err := c.State(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	alpha := intrude(t, server)
	ask(t, c, "alpha")
	stop, ended := make(chan struct{}), make(chan struct{})
	var sent atomic.Int64
	go func() {
		defer close(ended)
		large := make([]byte, 900<<10)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			body := []byte("{" + strconv.Itoa(i))
			if i%50 == 0 {
				body = large
			}
			if alpha.Publish(bus.ProgressSubject("alpha", 0), body) != nil {
				return
			}
			sent.Add(1)
		}
	}()
	beta := connectWorker(t, server, "beta")
	rounds := uint64(0)
	flooded := func() bool {
		select {
		case <-ended: // its connection was cut
			return true
		default:
			return sent.Load() >= 1000
		}
	}
	for ; rounds < 50 || !flooded(); rounds++ {
		request := ask(t, c, "beta")
		if _, err := beta.Publish(t.Context(), event(t, bus.ResponseSubject("beta", 0), schemas.TypeExecutionResponse, request, []byte("{}"))); err != nil {
			t.Fatalf("answer %d of beta beside a flood: %v", rounds, err)
		}
		if _, err := bus.Append(t.Context(), c, event(t, bus.InSubject("chat", 0), schemas.TypeChatReceived, "", []byte("{}")), bus.Expect{}); err != nil {
			t.Fatalf("message %d of a person beside a flood: %v", rounds, err)
		}
	}
	close(stop)
	<-ended
	if sent.Load() <= 101 { // no more than may be stored
		t.Fatalf("a flood of %d messages is none", sent.Load())
	}
	after, err := c.State(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	if stored := after.Messages - before.Messages - 2*rounds; stored > 101 {
		t.Errorf("%d of the %d messages of a flood were stored, want 101 at most", stored, sent.Load())
	}
	if grown := after.Bytes - before.Bytes; grown > 2<<20+(rounds-50)*(4<<10) {
		t.Errorf("a flood has added %d bytes", grown)
	}
}

// TestQueueOfAnAgentIsBounded: who publishes faster than it is stored is told so, as
// a temporary refusal in the server's own form.
func TestQueueOfAnAgentIsBounded(t *testing.T) {
	t.Parallel()
	server, _ := strangers(t)
	alpha := intrude(t, server)
	inbox := alpha.NewInbox()
	answers, err := alpha.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	const count = 20_000
	for range count {
		if err := alpha.PublishRequest(bus.ProgressSubject("alpha", 0), inbox, []byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	var stored, refused int
	for stored+refused < count {
		m, err := answers.NextMsg(patience)
		if err != nil {
			t.Fatalf("%d answers to %d messages: %v", stored+refused, count, err)
		}
		var answer struct {
			Error *struct {
				Code        int    `json:"code"`
				Description string `json:"description"`
			} `json:"error"`
		}
		switch err := json.Unmarshal(m.Data, &answer); {
		case err != nil:
			t.Fatalf("%q: %v", m.Data, err)
		case answer.Error == nil:
			stored++
		case answer.Error.Code != 503 || answer.Error.Description == "":
			t.Fatalf("a refusal says %s", m.Data)
		default:
			refused++
		}
	}
	if stored != 100 {
		t.Errorf("%d of a flood were stored, want 100", stored)
	}
}

// TestGateTakesHeadersOfEventsOnly_G40: no header of the server's reaches it: none
// that forges, wipes or hides, and none whose refusal tells what others have written.
func TestGateTakesHeadersOfEventsOnly_G40(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	victim := bus.Message{Subject: bus.SessionSubject(sessionOn(0), 2), Body: []byte("the victim's")}
	if _, err := bus.Append(t.Context(), c, victim, bus.ExpectLast(0)); err != nil {
		t.Fatal(err)
	}
	alpha := intrude(t, server)
	for _, header := range []map[string]string{
		{"Nats-Expected-Last-Subject-Sequence": "99", "Nats-Expected-Last-Subject-Sequence-Subject": victim.Subject},
		{"Nats-Expected-Last-Subject-Sequence": "99"},
		{"Nats-Expected-Last-Sequence": "99"},
		{"Nats-Expected-Last-Msg-Id": "99"},
		{"nats-expected-stream": "PODIUM_1"},
		{"Nats-Rollup": "all"},
		{"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1"},
		{"Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": bus.ControlSubject(0)},
		{"Nats-TTL": "1s"},
		{"Nats-Msg-Id": "same"},
		{"Nats-Msg-Id": "same", "X-Other": "kept nowhere"},
	} {
		message := nats.NewMsg(bus.ResponseSubject("alpha", 0))
		message.Data = []byte("body")
		for name, value := range header {
			message.Header[name] = []string{value}
		}
		message.Header["Ce-Id"] = []string{uuid.NewString()}
		reply, err := alpha.RequestMsg(message, patience)
		if err != nil {
			t.Fatalf("%v: %v", header, err)
		}
		if refusal(t, reply) != 0 || strings.Contains(string(reply.Data), "duplicate") {
			t.Errorf("%v: %s", header, reply.Data)
		}
		stored, err := c.Last(t.Context(), message.Subject)
		if err != nil {
			t.Fatal(err)
		}
		if len(stored.Header) != 1 || !bytes.Equal(stored.Body, message.Data) {
			t.Errorf("%v was stored with %v, body %q", header, stored.Header, stored.Body)
		}
	}
	held, err := c.Last(t.Context(), victim.Subject)
	if err != nil || !bytes.Equal(held.Body, victim.Body) {
		t.Errorf("the victim's message: %q, %v", held.Body, err)
	}
}

// TestNoConfusedDeputyAtTheGate_G40: a reply subject inside the ledger has the gate
// write nothing there.
func TestNoConfusedDeputyAtTheGate_G40(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	alpha := intrude(t, server)
	before := holdings(t, c)
	for _, target := range []string{
		bus.SessionSubject(sessionOn(0), 2), bus.ControlSubject(0), bus.ResponseSubject("beta", 0), "podium.gate.beta.response.0", bus.RequestSubject("beta"),
	} {
		if err := alpha.PublishRequest(bus.ResponseSubject("alpha", 0), target, []byte("mine")); err != nil {
			t.Fatal(err)
		}
		before[bus.ShardStream(0)]++ // the response itself
	}
	settle(t, alpha)
	if _, err := alpha.Request(bus.ResponseSubject("alpha", 0), []byte("last"), patience); err != nil {
		t.Fatal(err)
	}
	before[bus.ShardStream(0)]++
	mustHold(t, c, before, "acknowledgements into the ledger")
	for _, subject := range []string{"podium.gate.alpha.response.0", "podium.gate.beta.response.0", "podium.gate.alpha.permit.0"} {
		if err := alpha.Publish(subject, []byte("past the import")); err != nil {
			t.Fatal(err)
		}
		alpha.mustBeRefused("publish to " + subject)
	}
}

// TestGateKeepsOrder: what one agent publishes stands in its order.
func TestGateKeepsOrder(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	alpha := intrude(t, server)
	request := ask(t, c, "alpha")
	const count = 30
	for i := range count {
		m := event(t, bus.ProgressSubject("alpha", 0), schemas.TypeProgressUpdate, request, []byte(strconv.Itoa(i)))
		if err := alpha.PublishMsg(&nats.Msg{Subject: m.Subject, Header: nats.Header(m.Header), Data: m.Body}); err != nil {
			t.Fatal(err)
		}
	}
	last := event(t, bus.ResponseSubject("alpha", 0), schemas.TypeExecutionResponse, request, []byte(strconv.Itoa(count)))
	if _, err := alpha.RequestMsg(&nats.Msg{Subject: last.Subject, Header: nats.Header(last.Header), Data: last.Body}, patience); err != nil {
		t.Fatal(err)
	}
	var got []string
	for m, err := range c.Scan(t.Context(), bus.ShardStream(0), 1, "podium.agent.alpha.>") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Body))
	}
	for i, body := range got {
		if body != strconv.Itoa(i) {
			t.Fatalf("message %d is %s: %v", i, body, got)
		}
	}
	if len(got) != count+1 {
		t.Errorf("%d messages, want %d", len(got), count+1)
	}
}

// TestWithoutAGateAgentsTryAgain: nobody publishes into nothing.
func TestWithoutAGateAgentsTryAgain(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{External: []string{"alpha"}})
	c := core(t, server)
	alpha := connectWorker(t, server, "alpha")
	message := event(t, bus.ResponseSubject("alpha", 0), schemas.TypeExecutionResponse, "x", []byte("{}"))
	if _, err := alpha.Publish(t.Context(), message); !bus.Temporary(err) {
		t.Errorf("without a gate: %v, want a temporary error", err)
	}
	opened, err := c.OpenGate(t.Context(), gate.New(time.Now, func(int) bool { return false }, zerolog.Nop()), []string{"alpha"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alpha.Publish(t.Context(), message); err != nil {
		t.Errorf("with a gate: %v", err)
	}
	opened.Close()
	if _, err := alpha.Publish(t.Context(), message); !bus.Temporary(err) {
		t.Errorf("behind a closed gate: %v, want a temporary error", err)
	}
}

// TestGateOverALostConnection: requests that went out while the gate was away may be
// answered afterwards.
func TestGateOverALostConnection(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{External: []string{"alpha"}})
	c := processCore(t, process)
	if err := c.Declare(t.Context(), "alpha", bus.Pool{Size: 1000, AckWait: ackWait}); err != nil {
		t.Fatal(err)
	}
	keeper := &forgetful{Gate: gate.New(time.Now, func(int) bool { return false }, zerolog.Nop()), counted: make(chan uint64, 100)}
	opened, err := c.OpenGate(t.Context(), keeper, []string{"alpha"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	if got := <-keeper.counted; got != 0 {
		t.Errorf("%d requests waited at the beginning", got)
	}
	const count = 300
	requests := make([]string, count)
	for i := range requests {
		requests[i] = ask(t, c, "alpha")
	}
	process.Kill()
	process.Restart()
	if got := <-keeper.counted; got != count {
		t.Fatalf("%d requests were counted after the connection came back, want %d", got, count)
	}
	w := processWorker(t, process, "alpha")
	for i, request := range requests {
		_, err := w.Publish(t.Context(), event(t, bus.ResponseSubject("alpha", 0), schemas.TypeExecutionResponse, request, []byte("{}")))
		if errors.Is(err, gate.ErrUnsolicited) || err != nil {
			t.Fatalf("answer %d after the connection was lost: %v", i, err)
		}
	}
}

// A forgetful gate has seen no request go out.
type forgetful struct {
	*gate.Gate
	counted chan uint64
}

func (*forgetful) Requested(bus.Message) {}

func (f *forgetful) Waiting(agent string, count uint64) {
	f.Gate.Waiting(agent, count)
	f.counted <- count
}

// BenchmarkResponse is the publish of one response, straight to the ledger and by the
// gate.
func BenchmarkResponse(b *testing.B) {
	for _, durability := range []embedded.Durability{embedded.Fsync, embedded.Interval} {
		for _, way := range []string{"direct", "gate"} {
			b.Run(fmt.Sprintf("%s/%s", durability, way), func(b *testing.B) {
				config := embedded.Config{Durability: durability, Agents: []string{"alpha"}}
				if way == "gate" {
					config.Agents, config.External = nil, []string{"alpha"}
				}
				server := start(b, config)
				c := core(b, server)
				if way == "gate" {
					opened, err := c.OpenGate(b.Context(), gate.New(time.Now, func(int) bool { return false }, zerolog.Nop()), []string{"alpha"})
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(opened.Close)
				}
				w := connectWorker(b, server, "alpha")
				body := make([]byte, 512)
				for b.Loop() {
					b.StopTimer()
					request := ask(b, c, "alpha")
					b.StartTimer()
					if _, err := w.Publish(b.Context(), event(b, bus.ResponseSubject("alpha", 0), schemas.TypeExecutionResponse, request, body)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
