package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus/agent"
	"podium/bus/registry"
	"podium/schemas"
)

// A fragile handler works by something that may be away.
type fragile struct {
	agent.HandlerFunc

	away   atomic.Bool
	looked atomic.Int32
}

var errAway = errors.New("the calendar is away")

func (f *fragile) Check(context.Context) error {
	f.looked.Add(1)
	if f.away.Load() {
		return errAway
	}
	return nil
}

// entry is what the registry says of the stage's agent.
func (s *stage) entry(t *testing.T) registry.Entry {
	t.Helper()
	entries, err := registry.List(t.Context(), s.ledger, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(entries, func(e registry.Entry) bool { return e.Name == agentName })
	if at < 0 {
		return registry.Entry{}
	}
	return entries[at]
}

// TestServeAnnouncesWhatIsWell_G35: an agent that cannot do its work announces itself once it can. Until then, and
// whenever it cannot again, the registry says so, since when and why, and nobody is to ask it.
func TestServeAnnouncesWhatIsWell_G35(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		standing := registry.NewStanding()
		stopServices, err := registry.ServeAgents(t.Context(), s.ledger, registry.AgentServices{Clock: time.Now, Standing: standing})
		if err != nil {
			t.Fatal(err)
		}
		defer stopServices()
		var heard []error
		s.config.Agent = schemas.Agent{ID: "one", Kind: "calendar"}
		s.config.Health = func(problem error) { heard = append(heard, problem) }
		handler := &fragile{HandlerFunc: echo}
		handler.away.Store(true)
		began := time.Now().UTC()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- agent.Serve(ctx, s.ledger.Worker(agentName), handler, s.config) }()

		expect := func(state schemas.AgentState, kind string, problem *schemas.AgentHealth) {
			t.Helper()
			found := s.entry(t)
			if found.State != state || found.Kind != kind || len(found.Instances) != 1 {
				t.Fatalf("%+v, want %s %s", found, kind, state)
			}
			if got := found.Instances[0].Health; (got == nil) != (problem == nil) || got != nil && *got != *problem {
				t.Errorf("its health is %+v, want %+v", got, problem)
			}
			if standing.Barred(agentName, time.Now()) != (problem != nil) {
				t.Errorf("%s, and it is barred: %t", state, problem == nil)
			}
		}
		time.Sleep(15 * time.Second)
		expect(schemas.AgentDegraded, "", &schemas.AgentHealth{Problem: errAway.Error(), Since: began})
		handler.away.Store(false)
		time.Sleep(10 * time.Second)
		expect(schemas.AgentOK, "calendar", nil)
		handler.away.Store(true)
		time.Sleep(10 * time.Second)
		expect(schemas.AgentDegraded, "calendar", &schemas.AgentHealth{Problem: errAway.Error(), Since: began.Add(30 * time.Second)})
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if len(heard) != 3 || !errors.Is(heard[0], errAway) || heard[1] != nil || !errors.Is(heard[2], errAway) {
			t.Errorf("the process has heard %v", heard)
		}
		time.Sleep(registry.AliveWithin + time.Second)
		if found := s.entry(t); found.State != schemas.AgentLate {
			t.Errorf("nobody is there, and it is %s", found.State)
		}
		if standing.Barred(agentName, time.Now()) {
			t.Error("nobody is there, and whoever comes is not asked")
		}
	})
}

// TestServeLooksAsOftenAsToldTo: less often while the agent is well, with each sign of life while it is not.
func TestServeLooksAsOftenAsToldTo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		s.core(t)
		s.config.CheckEvery = time.Minute
		handler := &fragile{HandlerFunc: echo}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- agent.Serve(ctx, s.ledger.Worker(agentName), handler, s.config) }()
		time.Sleep(119 * time.Second)
		if n := handler.looked.Load(); n != 2 {
			t.Errorf("in two minutes it was looked %d times", n)
		}
		handler.away.Store(true)
		time.Sleep(32 * time.Second) // from 120 s on every ten seconds
		if n := handler.looked.Load(); n != 6 {
			t.Errorf("while it is away it was looked %d times, want 6", n)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestProcessesAreToldApart: each process of an agent has an entry of its own. One that ends leaves it, but the last.
func TestProcessesAreToldApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2)
		s.core(t)
		var stops []func() error
		for range 2 {
			stops = append(stops, s.serve(t, echo))
		}
		time.Sleep(time.Second)
		if found := s.entry(t); len(found.Instances) != 2 || found.Instances[0].ID == found.Instances[1].ID {
			t.Fatalf("of two processes the registry knows %+v", found.Instances)
		}
		mustStop(t, stops[0])
		if found := s.entry(t); len(found.Instances) != 1 || found.State != schemas.AgentOK {
			t.Errorf("one has ended, and the registry knows %+v", found.Instances)
		}
		mustStop(t, stops[1])
		time.Sleep(registry.AliveWithin + time.Second)
		if found := s.entry(t); len(found.Instances) != 1 || found.State != schemas.AgentLate {
			t.Errorf("all have ended, and the agent is not listed any more: %+v", found)
		}
	})
}
