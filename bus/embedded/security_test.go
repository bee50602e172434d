package embedded_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
)

// An intruder is agent alpha with a client of its own and no manners.
type intruder struct {
	*nats.Conn
	t       *testing.T
	refused chan error
}

func intrude(t *testing.T, server *embedded.Server) *intruder {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(server.Keys().Agents["alpha"].SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	i := &intruder{t: t, refused: make(chan error, 100)}
	i.Conn, err = nats.Connect(server.URL(), key, nats.CustomInboxPrefix(embedded.InboxPrefix("alpha")),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { i.refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// mustBeRefused flushes what was sent and expects one permission violation.
func (i *intruder) mustBeRefused(what string) {
	i.t.Helper()
	if err := i.FlushTimeout(patience); err != nil {
		i.t.Fatal(err)
	}
	select {
	case err := <-i.refused:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			i.t.Errorf("%s: %v, want a permission violation", what, err)
		}
	case <-time.After(patience):
		i.t.Errorf("%s was not refused", what)
	}
}

// holdings is how much every stream holds.
func holdings(t *testing.T, c *jetstream.Core) map[string]uint64 {
	t.Helper()
	held := map[string]uint64{}
	for _, stream := range []string{bus.ShardStream(0), bus.ShardStream(1), bus.WorkStream} {
		state, err := c.State(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		held[stream] = state.Last
	}
	return held
}

func mustHold(t *testing.T, c *jetstream.Core, want map[string]uint64, after string) {
	t.Helper()
	for stream, last := range holdings(t, c) {
		if last != want[stream] {
			t.Errorf("%s: %s went from %d to %d", after, stream, want[stream], last)
		}
	}
}

func guarded(t *testing.T) (*embedded.Server, *jetstream.Core) {
	t.Helper()
	server := start(t, embedded.Config{Agents: []string{"alpha", "beta"}})
	c := core(t, server)
	for _, agent := range []string{"alpha", "beta"} {
		if err := c.Declare(t.Context(), agent, bus.Pool{Size: 4, AckWait: ackWait}); err != nil {
			t.Fatal(err)
		}
		request := bus.Message{Subject: bus.RequestSubject(agent), Body: []byte("for " + agent)}
		if _, err := bus.Append(t.Context(), c, request, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	return server, c
}

// TestAgentPublishesItsOwnOnly_G40: a forged subject is refused by the server,
// at once, and nothing is stored.
func TestAgentPublishesItsOwnOnly_G40(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	w := connectWorker(t, server, "alpha")
	before := holdings(t, c)
	for _, subject := range []string{
		bus.ResponseSubject("beta", 0), bus.ProgressSubject("beta", 0), "podium.agent.beta.response", "podium.agent.beta.permit.0",
		bus.RequestSubject("alpha"), bus.RequestSubject("beta"), bus.InSubject("chat", 0), bus.ControlSubject(0),
		bus.SessionSubject(sessionOn(0), 2), bus.ShardSubject(0), "podium.dead.malformed.0",
		bus.ServiceSubject("beta", bus.ServiceAnnounce), bus.ServiceSubject("beta", bus.SignalCancel), "anything",
		bus.ServiceSubject("alpha", bus.SignalPermitted), bus.ServiceSubject("beta", bus.SignalPermitted),
	} {
		_, err := w.Publish(t.Context(), bus.Message{Subject: subject, Body: []byte("forged")})
		if !errors.Is(err, bus.ErrDenied) {
			t.Errorf("publish to %s gave %v, want ErrDenied", subject, err)
		}
	}
	mustHold(t, c, before, "forged publishes")
}

// TestAgentReadsItsOwnOnly_G40: requests of another, the ledger, and inboxes of
// another are out of reach, whichever way the agent asks.
func TestAgentReadsItsOwnOnly_G40(t *testing.T) {
	t.Parallel()
	server, _ := guarded(t)
	alpha := intrude(t, server)
	inbox := alpha.NewInbox()
	for _, subject := range []string{
		"CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.beta", "$JS.API.CONSUMER.MSG.NEXT.PODIUM_WORK.beta",
		"CORE.API.CONSUMER.INFO.PODIUM_WORK.beta", "$JS.ACK.PODIUM_WORK.beta.1.2.2.1.0",
		"$JS.ACK.PODIUM_WORK.beta.PODIUM_WORK.alpha.1.1.1", "$JS.ACK._.x.PODIUM_WORK.beta.1.2.2.1.0", "$JS.ACK.x.x.PODIUM_WORK.alpha.1",
		"CORE.API.CONSUMER.CREATE.PODIUM_WORK.mine", "$JS.API.CONSUMER.CREATE.PODIUM_WORK.mine",
		"CORE.API.CONSUMER.DURABLE.CREATE.PODIUM_WORK.alpha", "CORE.API.CONSUMER.DELETE.PODIUM_WORK.alpha",
		"CORE.API.STREAM.INFO.PODIUM_0", "CORE.API.STREAM.PURGE.PODIUM_0", "$JS.API.STREAM.PURGE.PODIUM_0",
		"CORE.API.STREAM.MSG.GET.PODIUM_0", "CORE.API.DIRECT.GET.PODIUM_0", "$JS.API.DIRECT.GET.PODIUM_0",
		"CORE.API.STREAM.MSG.DELETE.PODIUM_0", "CORE.API.STREAM.UPDATE.PODIUM_0", "$JS.API.INFO", "CORE.API.INFO",
		"$KV.PODIUM_AGENTS.alpha", "$O.PODIUM_ARTIFACTS.M.x", "$SYS.REQ.SERVER.PING",
	} {
		if err := alpha.PublishRequest(subject, inbox, []byte(`{"batch":1,"seq":1}`)); err != nil {
			t.Fatal(err)
		}
		alpha.mustBeRefused("publish to " + subject)
	}
	for _, subject := range []string{
		">", "podium.>", bus.RequestSubject("alpha"), bus.RequestSubject("beta"), bus.ResponseSubject("beta", 0),
		bus.ServiceSubject("beta", bus.SignalCancel), bus.ServiceSubject("*", bus.SignalCancel),
		bus.ServiceSubject("beta", bus.SignalPermitted), bus.ServiceSubject("*", bus.SignalPermitted),
		"_INBOX.>", "_INBOX_beta.>", "_R_.>", "$JS.>", "CORE.>", "$KV.>",
	} {
		if _, err := alpha.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		alpha.mustBeRefused("subscription to " + subject)
	}
	if _, err := nats.Connect(server.URL()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a client without a key: %v, want ErrAuthorization", err)
	}
}

// TestNoConfusedDeputy_G40: a reply subject inside the ledger makes the server
// write nothing there, neither by an ack, nor by a delivery, nor by an answer.
func TestNoConfusedDeputy_G40(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	alpha := intrude(t, server)
	target := bus.SessionSubject(sessionOn(0), 2)
	before := holdings(t, c)
	for _, subject := range []string{
		"CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha", "CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha",
		bus.ServiceSubject("alpha", bus.ServiceAnnounce),
	} {
		for _, reply := range []string{target, bus.ControlSubject(0), bus.ResponseSubject("beta", 0), bus.RequestSubject("beta")} {
			if err := alpha.PublishRequest(subject, reply, []byte(`{"batch":1,"expires":100000000}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	settle(t, alpha)
	mustHold(t, c, before, "replies into the ledger")

	if err := alpha.PublishRequest(bus.ResponseSubject("alpha", 0), target, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	settle(t, alpha)
	before[bus.ShardStream(0)]++ // the response itself
	mustHold(t, c, before, "an ack into the ledger")
	if _, err := c.Last(t.Context(), target); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("the last record of the target session: %v, want ErrNotFound", err)
	}
}

// settle waits until everything that was sent has had its effect: a request and
// its answer behind it.
func settle(t *testing.T, i *intruder) {
	t.Helper()
	for range 3 {
		if _, err := i.Request("CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha", nil, patience); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoHeaderEscalation_G40: no header lets an agent write, wipe or hide more
// than its own message.
func TestNoHeaderEscalation_G40(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	victim := bus.Message{Subject: bus.ResponseSubject("beta", 0), Body: []byte("the victim's")}
	if _, err := connectWorker(t, server, "beta").Publish(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	alpha := intrude(t, server)
	for _, test := range []struct {
		header map[string]string
		stored uint64 // messages, all under the agent's own subject
	}{
		{map[string]string{"Nats-Rollup": "all"}, 0},
		{map[string]string{"Nats-Rollup": "sub"}, 0},
		{map[string]string{"Nats-Schedule": "@at 2020-01-01T00:00:00Z", "Nats-Schedule-Target": bus.ControlSubject(0)}, 0},
		{map[string]string{"Nats-TTL": "1s"}, 0},
		{map[string]string{"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"}, 1},
		{map[string]string{"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "2", "Nats-Batch-Commit": "1"}, 0},
		{map[string]string{"Nats-Incr": "+1"}, 0},
		{map[string]string{"Nats-Msg-Id": "guessed"}, 1},
		{map[string]string{"Nats-Subject": bus.ControlSubject(0), "Nats-Sequence": "1", "Nats-Stream": "PODIUM_1"}, 1},
		{map[string]string{"Status": "100"}, 1},
	} {
		before := holdings(t, c)
		message := nats.NewMsg(bus.ResponseSubject("alpha", 0))
		for name, value := range test.header {
			message.Header.Set(name, value)
		}
		reply, err := alpha.RequestMsg(message, patience)
		if err != nil {
			t.Fatalf("%v: %v", test.header, err)
		}
		var answer struct {
			Error *struct {
				Code int `json:"err_code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(reply.Data, &answer); err != nil {
			t.Fatal(err)
		}
		if refused := answer.Error != nil; refused != (test.stored == 0) {
			t.Errorf("%v: %s", test.header, reply.Data)
		}
		before[bus.ShardStream(0)] += test.stored
		mustHold(t, c, before, fmt.Sprint(test.header))
	}
	held, err := c.Last(t.Context(), victim.Subject)
	if err != nil || !bytes.Equal(held.Body, victim.Body) {
		t.Errorf("the victim's message: %q, %v", held.Body, err)
	}
	readPoison(t, c)
}

// readPoison reads what the intruder stored in every way there is: no header of
// it passes for the server's.
func readPoison(t *testing.T, c *jetstream.Core) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	subject := bus.ResponseSubject("alpha", 0)
	count := 0
	for m, err := range c.Scan(ctx, bus.ShardStream(0), 1, subject) {
		if err != nil {
			t.Fatal(err)
		}
		count++
		got, err := c.Get(ctx, m.Stream, m.Sequence)
		if err != nil || got.Subject != subject || got.Sequence != m.Sequence || m.Subject != subject {
			t.Errorf("get %d gave %d %s, %v", m.Sequence, got.Sequence, got.Subject, err)
		}
		for name := range m.Header {
			if strings.HasPrefix(strings.ToLower(name), "nats-") {
				t.Errorf("header %s was handed out", name)
			}
		}
	}
	if count != 4 {
		t.Errorf("%d messages of the intruder, want 4", count)
	}
	last, err := c.Last(ctx, subject)
	if err != nil || last.Subject != subject {
		t.Errorf("last gave %s, %v", last.Subject, err)
	}
	all, err := c.LastOf(ctx, 0, []string{subject, bus.ResponseSubject("beta", 0)})
	if err != nil || len(all) != 2 {
		t.Errorf("last of both agents: %d, %v", len(all), err)
	}
}

// TestGuessedMessageID: an id that an agent sets can hide nothing of the core's,
// and no message of a worker, because neither carries one.
func TestGuessedMessageID(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	alpha := intrude(t, server)
	const id = "00000000-0000-4000-8000-000000000000"
	guess := nats.NewMsg(bus.ResponseSubject("alpha", 0))
	guess.Header.Set("Nats-Msg-Id", id)
	if _, err := alpha.RequestMsg(guess, patience); err != nil {
		t.Fatal(err)
	}
	before := holdings(t, c)[bus.ShardStream(0)]
	header := bus.Header{"Nats-Msg-Id": {id}, "nats-msg-id": {id}, "ce-id": {id}}
	session := bus.Message{Subject: bus.SessionSubject(sessionOn(0), 2), Header: header}
	if _, err := bus.Append(t.Context(), c, session, bus.ExpectLast(0)); err != nil {
		t.Errorf("an append behind a guessed id: %v", err)
	}
	response := bus.Message{Subject: bus.ResponseSubject("beta", 0), Header: header}
	if _, err := connectWorker(t, server, "beta").Publish(t.Context(), response); err != nil {
		t.Errorf("a response behind a guessed id: %v", err)
	}
	if after := holdings(t, c)[bus.ShardStream(0)]; after != before+2 {
		t.Errorf("the stream went from %d to %d, want two more", before, after)
	}
}
