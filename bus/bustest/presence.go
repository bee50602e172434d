package bustest

import (
	"context"
	"errors"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/registry"
	"podium/schemas"
)

// until looks again and again until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx := deadline(t); !holds(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		}
	}
}

// testPoolState holds the bus to what it says of those who serve an agent, and
// what follows from it.
func testPoolState(t *testing.T, s System, agent string) {
	if _, err := s.Core.PoolState(deadline(t), agent); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("the state of an agent that is not declared: %v", err)
	}
	served := func(now time.Time) registry.Presence {
		t.Helper()
		presence, err := registry.PresenceOf(deadline(t), s.Core, agent, now)
		if err != nil {
			t.Fatal(err)
		}
		return presence
	}
	state := func() bus.PoolState {
		t.Helper()
		state, err := s.Core.PoolState(deadline(t), agent)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	now := time.Now()
	if presence := served(now); presence != (registry.Presence{}) {
		t.Errorf("an agent that is not declared: %+v", presence)
	}
	declare(t, s, agent, 7)
	if found := state(); found != (bus.PoolState{Size: 7}) {
		t.Errorf("an agent that nobody serves: %+v", found)
	}
	if presence := served(now); presence != (registry.Presence{}) {
		t.Errorf("an agent that nobody has ever served: %+v", presence)
	}

	w := s.Worker(t, agent)
	ctx, stop := context.WithCancel(deadline(t))
	ended := make(chan []bus.Delivery, 1)
	go func() {
		taken, _ := w.Fetch(ctx, 1)
		ended <- taken
	}()
	until(t, "somebody waits", func() bool { return state().Waiting == 1 })
	if !served(now.Add(time.Hour)).Served {
		t.Error("whoever waits for requests does not serve them")
	}
	mustAppend(t, s.Core, bus.RequestSubject(agent), "one")
	for _, d := range <-ended {
		if now := state(); now.Working != 1 || now.Deliveries != 1 {
			t.Errorf("one request is handed out, and the bus says %+v", now)
		}
		if err := d.Nak(0); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range fetch(t, w, 1) {
		if now := state(); now.Working != 1 || now.Deliveries != 2 {
			t.Errorf("one request is handed out again, and the bus says %+v", now)
		}
		ack(t, d)
	}
	until(t, "nothing is handed out", func() bool { return state().Working == 0 })
	stop()
	if last := state().Last; last.IsZero() {
		t.Error("a request was taken, and nothing shows it")
	}
	if closer, ok := w.(interface{ Close() }); ok {
		closer.Close()
	}
	until(t, "nobody waits", func() bool { return state().Waiting == 0 })
	last := state().Last
	if presence := served(last.Add(registry.AliveWithin)); !presence.Served {
		t.Error("who was there a moment ago is gone")
	}
	if presence := served(last.Add(registry.AliveWithin + time.Second)); presence.Served || !presence.LastSeen.Equal(last) {
		t.Errorf("who is gone: %+v, last there %s", presence, last)
	}

	told := last.Add(time.Minute)
	entry, err := schemas.Marshal(schemas.Agent{Name: agent, LastSeen: told})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Core.KeyValue(bus.AgentBucket).Put(deadline(t), registry.InstanceKey(agent, schemas.DefaultInstanceID), entry); err != nil {
		t.Fatal(err)
	}
	if presence := served(told.Add(registry.AliveWithin)); !presence.Served {
		t.Error("the registry says that it lives")
	}
	if presence := served(told.Add(registry.AliveWithin + time.Second)); presence.Served || !presence.LastSeen.Equal(told) {
		t.Errorf("three heartbeats are missing: %+v", presence)
	}
}
