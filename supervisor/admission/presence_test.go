package admission

import (
	"context"
	"fmt"
	"testing"
	"time"

	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/circuit"
)

// TestNobodyAsksForAnAgentThatIsThere: sessions that wanted to know since when an
// agent is away are not kept for it once it is back, or once nothing waits for it.
func TestNobodyAsksForAnAgentThatIsThere(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(a *Controller, p *pool){
		"it is back":           (*Controller).present,
		"nothing waits for it": func(a *Controller, _ *pool) { a.CheckPresence(t.Context(), true) },
	} {
		p := &pool{agent: watchedAgent{absent: &schemas.Absence{Agent: "worker"}, asking: []*Demand{{}}}}
		a := &Controller{pools: map[string]*pool{"worker": p}, absentees: 1, lookDue: true}
		if happens(a, p); len(p.agent.asking) > 0 {
			t.Errorf("%s: a session is kept", name)
		}
	}
}

// TestAgentThatHasJustComeIsNotBarred: what nobody began before its first word does not
// count, what nobody begins after it does.
func TestAgentThatHasJustComeIsNotBarred_M28(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &Controller{
		Config: Config{
			Breaker: func(string) circuit.Policy {
				return circuit.Policy{Failures: 3, Within: time.Minute, Open: time.Minute}
			},
			Presence: func(context.Context, string, time.Time) (registry.Presence, error) { return registry.Presence{}, nil },
		},
		pools: map[string]*pool{}, breakers: map[string]*breaker{}, now: now,
	}
	fail := func(request string) {
		for n := range 3 {
			a.unstarted(&workflow.Task{Agent: "worker"}, circuit.Event{Kind: circuit.Failed, Request: fmt.Sprint(request, n), At: now})
		}
	}
	fail("before")
	if !a.lookDue {
		t.Error("it is not looked for at once")
	}
	a.ObserveAgent("worker", now.Add(time.Millisecond))
	if b := a.breaker("worker"); circuit.Blocks(&b.value) || len(b.value.Failures) > 0 {
		t.Errorf("it has just come, and its breaker is %+v", b.value)
	}
	fail("after")
	if b := a.breaker("worker"); !circuit.Blocks(&b.value) {
		t.Errorf("it is there and begins nothing, and its breaker is %+v", b.value)
	}
}
