package embedded_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/registry"
)

// TestAnswersReachWhoAskedOnly_G40: an agent cannot have what it is answered sent to
// another one, who would take it for a signal of the core's or drown in it.
func TestAnswersReachWhoAskedOnly_G40(t *testing.T) {
	t.Parallel()
	server, c := strangers(t)
	stop, err := registry.ServeAgents(t.Context(), c, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	alpha, beta := intrude(t, server), connected(t, server, "beta")
	targets := []string{
		bus.ServiceSubject("beta", bus.SignalCancel), bus.ServiceSubject("beta", bus.SignalPermitted), embedded.InboxPrefix("beta") + ".guessed",
	}
	heard := make(chan *nats.Msg, 100)
	for _, subject := range targets {
		if _, err := beta.ChanSubscribe(subject, heard); err != nil {
			t.Fatal(err)
		}
	}
	if err := beta.Flush(); err != nil {
		t.Fatal(err)
	}
	for subject, body := range map[string]string{
		bus.ServiceSubject("alpha", bus.ServiceAnnounce): `{"name":"alpha"}`,
		bus.ServiceSubject("alpha", bus.ServiceAlive):    "",
		bus.ServiceSubject("alpha", bus.ServicePartial):  "",
		bus.ServiceSubject("alpha", bus.ServiceArtifact): "{\"op\":\"put\"}\nbytes",
		bus.ResponseSubject("alpha", 0):                  "{}",
		bus.ProgressSubject("alpha", 0):                  "{}",
		bus.PermitSubject("alpha", 0):                    "{}",
		"CORE.API.CONSUMER.INFO.PODIUM_WORK.alpha":       "",
		"CORE.API.CONSUMER.MSG.NEXT.PODIUM_WORK.alpha":   `{"batch":1,"no_wait":true}`,
		"$JS.ACK.PODIUM_WORK.alpha.1.1.1.1.0":            "+WPI",
	} {
		for _, target := range targets {
			if err := alpha.PublishRequest(subject, target, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	settle(t, alpha)
	if _, err := alpha.Request(bus.ResponseSubject("alpha", 0), []byte("last"), patience); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(bus.ServiceSubject("beta", bus.SignalCancel), []byte("the last signal")); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case m := <-heard:
			if string(m.Data) == "the last signal" {
				return
			}
			t.Errorf("beta heard on %s what alpha was answered: %q", m.Subject, m.Data)
		case <-time.After(patience):
			t.Fatal("beta did not hear the core")
		}
	}
}

// connected is an agent with a client of its own.
func connected(t *testing.T, server *embedded.Server, agent string) *nats.Conn {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(server.Keys().Agents[agent].SeedFile)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(server.URL(), key, nats.CustomInboxPrefix(embedded.InboxPrefix(agent)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	return connection
}
