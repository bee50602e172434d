package embedded

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/registry"
)

// TestProcessesLeaveNoTraces: an agent whose processes come and go under ever new ids does not fill the registry, and what it no longer has is
// no loss to the next start.
func TestProcessesLeaveNoTraces(t *testing.T) {
	t.Parallel()
	config := Config{Dir: t.TempDir(), Durability: Interval, External: []string{"echo"}, Shards: 1, Logger: zerolog.Nop()}
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := s.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stop, err := registry.ServeAgents(t.Context(), core, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	worker, err := s.Worker(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	say := func(service, body string) {
		if _, err := worker.Ask(t.Context(), service, []byte(body)); err != nil {
			t.Fatalf("%s %s: %v", service, body, err)
		}
	}
	say(bus.ServiceAnnounce, `{"id":"stays"}`)
	for i := range 50 {
		say(bus.ServiceAnnounce, fmt.Sprintf(`{"id":"p%d"}`, i))
		say(bus.ServiceAlive, fmt.Sprintf(`{"id":"p%d","leaving":true}`, i))
	}
	kept := func() (messages, last uint64) {
		state, err := s.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, account := range state.AccountDetails {
			for i := range account.Streams {
				if stream := &account.Streams[i]; stream.Name == "KV_"+bus.AgentBucket {
					messages, last = stream.State.Msgs, stream.State.LastSeq
				}
			}
		}
		return messages, last
	}
	messages, last := kept()
	if messages > 10 {
		t.Errorf("the registry keeps %d messages of one agent with one process", messages)
	}
	worker.Close()
	stop()
	core.Close()
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Start(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if losses := s.Losses(); len(losses) > 0 {
		t.Errorf("what has left counts as lost: %+v", losses)
	}
	if _, now := kept(); now < last {
		t.Errorf("the newest revision is %d, and was %d", now, last)
	}
}
