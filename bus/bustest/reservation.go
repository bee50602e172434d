package bustest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/registry"
	"podium/schemas"
)

// testReservations: an agent that is kept for one process is served by no other,
// whoever has its key; that one is told so, and gets no request.
func testReservations(t *testing.T, s System) {
	const word = "the word of the process"
	stopServices, err := registry.ServeAgents(t.Context(), s.Core, registry.AgentServices{Clock: time.Now, Reserved: []registry.Reservation{{Agent: "member", Instance: word}}})
	if err != nil {
		t.Fatal(err)
	}
	defer stopServices()
	declare(t, s, "member", 4)
	mustAppend(t, s.Core, bus.RequestSubject("member"), "garbage, which whoever takes it acknowledges")

	serve := func(ctx context.Context, instance string) error {
		refuse := func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
			return agent.Outcome{}, errors.New("there is no request")
		}
		return agent.Serve(ctx, s.Worker(t, "member"), agent.HandlerFunc(refuse), agent.ServeConfig{
			Agent: schemas.Agent{Kind: "echo", Instance: instance}, AckWait: ackWait, Log: zerolog.Nop(),
		})
	}
	for _, instance := range []string{"", "another word"} {
		if err := serve(deadline(t), instance); !errors.Is(err, bus.ErrRefused) || !strings.Contains(err.Error(), "{kind: external}") {
			t.Errorf("an impostor ended with %v", err)
		}
	}
	if state, err := s.Core.PoolState(deadline(t), "member"); err != nil || !state.Last.IsZero() {
		t.Errorf("an impostor took a request: %+v, %v", state, err)
	}
	if agents, err := registry.Agents(deadline(t), s.Core); err != nil || len(agents) != 0 {
		t.Errorf("an impostor is in the registry: %+v, %v", agents, err)
	}
	asking := s.Worker(t, "member")
	if _, err := asking.Ask(deadline(t), bus.ServiceAlive, nil); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("an impostor is alive: %v", err)
	}

	ctx, stop := context.WithCancel(deadline(t))
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, word) }()
	until(t, "the process itself takes the request", func() bool {
		state, err := s.Core.PoolState(ctx, "member")
		return err == nil && !state.Last.IsZero()
	})
	if agents, err := registry.Agents(deadline(t), s.Core); err != nil || len(agents) != 1 || agents[0].Kind != "echo" || agents[0].Instance != "" {
		t.Errorf("the registry holds %+v, %v", agents, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the process itself ended with %v", err)
	}
}
