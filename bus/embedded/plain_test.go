package embedded_test

import (
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/embedded"
)

// TestPlainClient: core NATS and the documented JSON are all that an agent needs.
func TestPlainClient(t *testing.T) {
	t.Parallel()
	server, c := guarded(t)
	agent := intrude(t, server) // a good one, this time

	request, err := agent.Request("CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha", []byte(`{"batch":1,"expires":100000000000}`), patience)
	if err != nil {
		t.Fatal(err)
	}
	if string(request.Data) != "for alpha" || request.Subject == "" {
		t.Fatalf("pulled %q", request.Data)
	}
	if err := request.Respond([]byte("+WPI")); err != nil {
		t.Fatal(err)
	}
	const response = `{"type":"execution_response","from":"alpha"}`
	puback, err := agent.Request(bus.ResponseSubject("alpha", 1), []byte(response), patience)
	if err != nil {
		t.Fatal(err)
	}
	var ack struct {
		Stream   string `json:"stream"`
		Sequence uint64 `json:"seq"`
	}
	if err := json.Unmarshal(puback.Data, &ack); err != nil || ack.Stream != "PODIUM_1" || ack.Sequence != 1 {
		t.Errorf("the ack is %s, want the first of PODIUM_1", puback.Data)
	}
	if _, err := agent.Request(request.Reply, []byte("+ACK"), patience); err != nil {
		t.Fatalf("acknowledge: %v", err)
	}
	stored, err := c.Last(t.Context(), bus.ResponseSubject("alpha", 1))
	if err != nil || string(stored.Body) != response || len(stored.Header) != 0 {
		t.Errorf("stored %q with %v, %v", stored.Body, stored.Header, err)
	}
	again, err := agent.Request("CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha", []byte(`{"batch":1,"no_wait":true}`), patience)
	if err != nil || again.Header.Get("Status") != "404" {
		t.Errorf("after the ack came %v, %v, want status 404", again, err)
	}
}

// TestLibraryClient: the JetStream part of nats.go works for an agent, told the
// API's prefix.
func TestLibraryClient(t *testing.T) {
	t.Parallel()
	server, _ := guarded(t)
	agent := intrude(t, server)
	js, err := natsjetstream.NewWithAPIPrefix(agent.Conn, embedded.APIPrefix)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.Consumer(t.Context(), bus.WorkStream, "alpha")
	if err != nil {
		t.Fatalf("bind: %v", err)
	}
	request, err := consumer.Next(natsjetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	if string(request.Data()) != "for alpha" {
		t.Errorf("pulled %q", request.Data())
	}
	if _, err := js.PublishMsg(t.Context(), nats.NewMsg(bus.ResponseSubject("alpha", 0))); err != nil {
		t.Errorf("publish: %v", err)
	}
	if err := request.DoubleAck(t.Context()); err != nil {
		t.Errorf("acknowledge: %v", err)
	}
}
