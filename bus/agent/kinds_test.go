package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/registry"
	"podium/schemas"
)

// of makes a request one of a kind.
func of(kind schemas.RequestKind) func(*schemas.Event) {
	return func(e *schemas.Event) {
		e.Data = []byte(strings.Replace(string(e.Data), `"constraints":{}`, `"constraints":{},"kind":"`+string(kind)+`"`, 1))
	}
}

// TestServeRefusesUndeclaredKinds: the handler is called for the kinds that its agent
// declares, which is work when it declares none, and for no other.
func TestServeRefusesUndeclaredKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declared []schemas.RequestKind
		asked    schemas.RequestKind
		says     string // of a request that is refused
	}{
		"work by default":            {nil, schemas.KindWork, ""},
		"an assessment by default":   {nil, schemas.KindAssess, "This agent does not answer requests of kind assess. It declares: work."},
		"a plan by default":          {nil, schemas.KindPlan, "This agent does not answer requests of kind plan. It declares: work."},
		"a declared assessment":      {[]schemas.RequestKind{schemas.KindWork, schemas.KindAssess}, schemas.KindAssess, ""},
		"a route to a planner":       {[]schemas.RequestKind{schemas.KindWork, schemas.KindPlan}, schemas.KindRoute, "This agent does not answer requests of kind route. It declares: work, plan."},
		"work to who only plans":     {[]schemas.RequestKind{schemas.KindPlan}, schemas.KindWork, "This agent does not answer requests of kind work. It declares: plan."},
		"a plan to who plans":        {[]schemas.RequestKind{schemas.KindPlan}, schemas.KindPlan, ""},
		"a route to who assesses it": {[]schemas.RequestKind{schemas.KindAssess}, schemas.KindRoute, "This agent does not answer requests of kind route. It declares: assess."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.config.Agent.Kinds = c.declared
				var calls atomic.Int32
				stop := s.serve(t, func(context.Context, *agent.Request, agent.Report) (agent.Outcome, error) {
					calls.Add(1)
					return agent.Text("done"), nil
				})
				s.ask(t, 1, of(c.asked))
				got := s.one(t)
				s.nothingPending(t)
				mustStop(t, stop)
				refused := c.says != ""
				if refused != (calls.Load() == 0) || refused != (got.Payload.Status == schemas.StatusFailed) {
					t.Fatalf("the handler was called %d times: %+v", calls.Load(), got.Payload)
				}
				if !refused {
					return
				}
				if issues := got.Payload.IssuesEncountered; len(issues) != 1 || issues[0].Description != c.says ||
					issues[0].Resolution != schemas.ResolutionEscalated || issues[0].EffectUnknown {
					t.Errorf("issues %+v, want %q", issues, c.says)
				}
				if log := s.log.String(); !strings.Contains(log, bus.ErrUndeclared.Error()) {
					t.Errorf("the log does not say why:\n%s", log)
				}
			})
		})
	}
}

// TestServeAnnouncesItsKinds: the registry hears what the agent declares.
func TestServeAnnouncesItsKinds(t *testing.T) {
	t.Parallel()
	for want, declared := range map[string][]schemas.RequestKind{
		"work": nil, "plan route": {schemas.KindPlan, schemas.KindRoute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1)
			s.config.Agent.Kinds = declared
			served, err := registry.ServeAgents(t.Context(), s.ledger, registry.AgentServices{Clock: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer served()
			stop := s.serve(t, echo)
			synctest.Wait()
			agents, err := registry.Agents(t.Context(), s.ledger)
			if err != nil || len(agents) != 1 {
				t.Fatalf("agents %+v: %v", agents, err)
			}
			var heard []string
			for _, kind := range agents[0].Kinds {
				heard = append(heard, string(kind))
			}
			if strings.Join(heard, " ") != want {
				t.Errorf("the registry hears %v, want %s", heard, want)
			}
			mustStop(t, stop)
		})
	}
}

// TestReceiveRefusesUndeclaredKinds: no question is taken over by who takes over work,
// not even as one task of several.
func TestReceiveRefusesUndeclaredKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		kept := &shelf{}
		stop := s.receive(t, kept)
		for n, kind := range []schemas.RequestKind{schemas.KindAssess, schemas.KindPlan, schemas.KindRoute} {
			s.ask(t, n, of(kind))
		}
		s.ask(t, 3, func(e *schemas.Event) {
			of(schemas.KindAssess)(e)
			var request schemas.ExecutionRequest
			if err := schemas.Unmarshal(e.Data, &request); err != nil {
				t.Fatal(err)
			}
			request.Payload.Tasks = append([]schemas.Task{echoTask(4)}, request.Payload.Tasks...)
			request.Payload.Tasks[0].AssignedTo = agentName
			request.Payload.AgentAssignments[agentName] = append(request.Payload.AgentAssignments[agentName], request.Payload.Tasks[0].TaskID)
			var err error
			if e.Data, err = schemas.Marshal(request); err != nil {
				t.Fatal(err)
			}
		})
		work := s.ask(t, 4, of(schemas.KindWork))
		s.nothingPending(t)
		mustStop(t, stop)
		said := s.responses(t)
		for _, one := range said {
			if issues := one.Payload.IssuesEncountered; one.Payload.Status != schemas.StatusFailed || len(issues) != 1 ||
				!strings.HasPrefix(issues[0].Description, "This agent does not answer requests of kind") || issues[0].Resolution != schemas.ResolutionEscalated {
				t.Errorf("response %+v", one.Payload)
			}
		}
		if len(said) != 4 || len(kept.received) != 1 || kept.received[0].ID != work || len(kept.isolated) != 0 {
			t.Errorf("%d are refused, %d taken over, %d isolated", len(said), len(kept.received), len(kept.isolated))
		}
	})
}

// TestNoPermitForAQuestion: who is asked a question has no permit, whatever the
// request brings along and however often it is handed out, and nobody is asked for it.
func TestNoPermitForAQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*schemas.Event)
		again  bool // it was handed to somebody else before
	}{
		"somebody could be asked":   {func(*schemas.Event) {}, false},
		"it brings a permit":        {func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) }, false},
		"it names nobody to ask":    {func(e *schemas.Event) { e.ReplyTo = "" }, false},
		"it is handed out again":    {func(*schemas.Event) {}, true},
		"it brings a permit, again": {func(e *schemas.Event) { e.Permit = schemas.PermitID(e.ID) }, true},
	} {
		for _, kind := range []schemas.RequestKind{schemas.KindAssess, schemas.KindPlan, schemas.KindRoute} {
			t.Run(name+", "+string(kind), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, a := newStage(t, 1), &actor{}
					s.config.Agent.Kinds = []schemas.RequestKind{kind}
					s.ask(t, 1, func(e *schemas.Event) { of(kind)(e); c.change(e) })
					if c.again {
						if held := s.ledger.Worker(agentName).TryFetch(1); len(held) != 1 {
							t.Fatalf("%d requests at once", len(held))
						}
						time.Sleep(ackWait)
					}
					stop := s.serve(t, a.handle)
					synctest.Wait()
					questions, _ := s.questions(t)
					mustStop(t, stop)
					s.nothingPending(t)
					failure, ok := errors.AsType[*agent.Failure](a.err)
					if a.acts.Load() != 0 || len(questions) != 0 || !ok || !failure.Permanent || failure.Unknown || !errors.Is(a.err, bus.ErrNotPermitted) {
						t.Errorf("%d acts, %d questions, after %v", a.acts.Load(), len(questions), a.err)
					}
				})
			})
		}
	}
}
