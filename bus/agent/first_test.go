package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// The permit that comes along is used without a question by whoever is handed the fresh
// copy by the server that took it, and by nobody else. The handler is told as much.
func TestFirstDeliveryIsBelieved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first  func(server string) string
		before func(t *testing.T, s *stage) // the agent is at work
		count  int
		asks   bool
	}{
		"the fresh copy":      {count: 1},
		"another server":      {first: func(string) string { return "another" }, asks: true},
		"no server":           {first: func(string) string { return "" }, asks: true},
		"handed out again":    {before: hold, count: 2, asks: true},
		"a server since then": {before: restart, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, a := newStage(t, 1), &actor{}
				count := -1
				s.ask(t, 1, func(e *schemas.Event) {
					e.Permit = schemas.PermitID(e.ID)
					if test.first != nil {
						e.First = test.first(e.First)
					}
				})
				if test.before != nil {
					test.before(t, s)
				}
				stop := s.serve(t, func(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
					count = request.Deliveries
					return a.handle(ctx, request, report)
				})
				questions, _ := s.questions(t)
				if asks := len(questions) > 0; asks != test.asks || (a.acts.Load() == 0) != test.asks || count != test.count {
					t.Errorf("%d questions, %d acts, %d deliveries; want a question %t, %d deliveries", len(questions), a.acts.Load(), count, test.asks, test.count)
				}
				mustStop(t, stop)
			})
		})
	}
}

// hold has another process be handed what is there, and die.
func hold(t *testing.T, s *stage) {
	t.Helper()
	if held := s.ledger.Worker(agentName).TryFetch(1); len(held) != 1 {
		t.Fatalf("%d requests at once", len(held))
	}
	time.Sleep(ackWait)
}

func restart(t *testing.T, s *stage) {
	t.Helper()
	s.ledger.Restart(func(string, uint64) uint64 { return 1 })
}

// A server that was killed hands out again, as if for the first time, what was done
// and acknowledged. Nothing is done again without a question, which is refused.
func TestWorkIsNotDoneAgainAfterACrashOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, a := newStage(t, 1), &actor{}
		stop := s.serve(t, a.handle)
		s.ask(t, 1, func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) })
		if s.one(t); a.acts.Load() != 1 {
			t.Fatalf("%d acts of the first who is handed the request", a.acts.Load())
		}
		mustStop(t, stop) // with all it remembers
		restart(t, s)
		if again := s.ledger.Worker(agentName).TryFetch(1); len(again) != 1 || again[0].Deliveries() != 1 {
			t.Fatalf("the server hands out %+v", again)
		}
		restart(t, s)
		stop = s.serve(t, a.handle)
		questions, _ := s.questions(t)
		if len(questions) != 1 || a.acts.Load() != 1 {
			t.Fatalf("%d questions, %d acts", len(questions), a.acts.Load())
		}
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitStale})
		if a.acts.Load() != 1 || !errors.Is(a.err, bus.ErrNotPermitted) {
			t.Errorf("%d acts, %v", a.acts.Load(), a.err)
		}
		s.nothingPending(t)
		mustStop(t, stop)
	})
}

// Whoever fails before it has asked says nothing about others that may have been
// permitted: those that were handed the request before, or another copy of it, or that
// had an earlier attempt.
func TestFailingBeforeAskingLeavesDoubt(t *testing.T) {
	t.Parallel()
	const external = schemas.SideEffectsExternal
	for name, test := range map[string]struct {
		effects string
		change  func(*schemas.Event)
		before  func(t *testing.T, s *stage)
		unknown bool
	}{
		"the first, with the permit":            {external, func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) }, nil, false},
		"the first, with its copy elsewhere":    {external, nil, nil, true},
		"the first of an agent without effects": {"", nil, nil, false},
		"a later copy":                          {"", func(e *schemas.Event) { e.First = "" }, nil, true},
		"a second attempt":                      {"", func(e *schemas.Event) { e.Attempt = 2 }, nil, true},
		"after a crash of the server":           {external, func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) }, restart, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.config.Agent.SideEffects = test.effects
				s.ask(t, 1, test.change)
				if test.before != nil {
					test.before(t, s)
				}
				stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
					return agent.Outcome{}, &agent.Failure{Message: "busy"}
				})
				said := s.responses(t)
				if len(said) != 1 || len(said[0].Payload.IssuesEncountered) != 1 || said[0].Payload.IssuesEncountered[0].EffectUnknown != test.unknown {
					t.Errorf("it said %+v", said)
				}
				mustStop(t, stop)
			})
		})
	}
}
