package embedded_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
)

// TestTracesReachNobodyElse_G40: an agent cannot have the server publish a trace of its
// messages in another one's name.
func TestTracesReachNobodyElse_G40(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	stop, err := registry.ServeAgents(t.Context(), c, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if _, err := connectWorker(t, server, "beta").Ask(t.Context(), bus.ServiceAnnounce, []byte(`{"name":"beta","description":"beta's own"}`)); err != nil {
		t.Fatal(err)
	}
	registered := func() uint64 {
		_, revision, err := c.KeyValue(bus.AgentBucket).Get(t.Context(), registry.InstanceKey("beta", schemas.DefaultInstanceID))
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	alpha, beta := intrude(t, server), connected(t, server, "beta")
	heard, err := beta.SubscribeSync(bus.ServiceSubject("beta", bus.SignalCancel))
	if err != nil {
		t.Fatal(err)
	}
	if err := beta.Flush(); err != nil {
		t.Fatal(err)
	}
	before, revision := holdings(t, c), registered()
	for _, source := range []string{bus.ServiceSubject("alpha", bus.ServiceAlive), "anything", "CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha"} {
		for _, only := range []string{"", "true"} {
			for _, dest := range []string{
				bus.ResponseSubject("beta", 0), bus.ProgressSubject("beta", 0), "podium.agent.beta.response", bus.PermitSubject("beta", 0),
				bus.ServiceSubject("beta", bus.ServiceAlive), bus.ServiceSubject("beta", bus.ServiceAnnounce), bus.ServiceSubject("beta", bus.SignalCancel),
				"$JS.ACK.PODIUM_WORK.beta.1.1.1.1.0", bus.ControlSubject(0), bus.RequestSubject("beta"),
			} {
				message := nats.NewMsg(source)
				message.Header.Set("Nats-Trace-Dest", dest)
				if only != "" {
					message.Header.Set("Nats-Trace-Only", only)
				}
				if err := alpha.PublishMsg(message); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	settle(t, alpha)
	if _, err := alpha.Request(bus.ResponseSubject("alpha", 0), []byte("last"), patience); err != nil {
		t.Fatal(err)
	}
	before[bus.ShardStream(0)]++
	mustHold(t, c, before, "traces")
	if registered() != revision {
		t.Error("beta's entry in the registry has changed")
	}
	if m, err := heard.NextMsg(100 * time.Millisecond); err == nil {
		t.Errorf("beta heard %q", m.Data)
	}
}
