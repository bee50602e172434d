package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// letter is what these agents would do.
func letter(text string) schemas.Action {
	return schemas.Action{Summary: "a letter", Data: jsontext.Value(`{"text": "` + text + `"}`), Recipients: []string{"ben@example.org"}}
}

// TestUnapproved: an agent asks for what it will do, and is refused because nobody has agreed. It answers blocked, with what it would have done, whatever its handler
// makes of the error; nothing is done, and nothing is in doubt.
func TestUnapproved(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]agent.HandlerFunc{
		"as it is": func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			return agent.Text("done"), request.PermitFor(ctx, letter("Hello"))
		},
		"wrapped, and beside findings": func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			err := request.PermitFor(ctx, letter("Hello"))
			return agent.Outcome{Findings: schemas.Findings{Recommendations: []string{"Ask Ben."}}}, &agent.Failure{Message: "no", Err: err}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.config.Agent.SideEffects = schemas.SideEffectsExternal
				stop := s.serve(t, handle)
				s.ask(t, 1, nil)
				questions, _ := s.questions(t)
				action := letter("Hello")
				if call, err := action.Call(); err != nil || questions[0].Call != call {
					t.Errorf("it asks for %q, want %q (%v)", questions[0].Call, call, err)
				}
				s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Reason: schemas.PermitUnapproved})
				said := s.one(t).Payload
				operation := said.Operation
				if said.Status != schemas.StatusBlocked || operation == nil || operation.Name != agentName || operation.Summary != "a letter" ||
					string(operation.Arguments) != `{"text":"Hello"}` || len(operation.Recipients) != 1 || operation.Recipients[0] != "ben@example.org" {
					t.Errorf("it answers %s and proposes %+v", said.Status, operation)
				}
				if len(said.IssuesEncountered) != 1 || said.IssuesEncountered[0].EffectUnknown || said.Result != nil && said.Result.Text != "" {
					t.Errorf("it says %+v, %+v", said.IssuesEncountered, said.Result)
				}
				s.nothingPending(t)
				mustStop(t, stop)
			})
		})
	}
}

// TestUnapprovedWithoutAnybody: what comes of a stranger's words is not done when nobody is named who could refuse it, and what does not is.
func TestUnapprovedWithoutAnybody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		effects string
		tainted []string
		want    schemas.ResponseStatus
	}{
		"a stranger's words":                {schemas.SideEffectsExternal, []string{"/request"}, schemas.StatusBlocked},
		"nobody's":                          {schemas.SideEffectsExternal, nil, schemas.StatusCompleted},
		"of an agent that acts not outside": {"", []string{"/request"}, schemas.StatusCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1)
				s.config.Agent.SideEffects = c.effects
				stop := s.serve(t, func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
					return agent.Text("done"), request.PermitFor(ctx, letter("Hello"))
				})
				s.ask(t, 1, func(e *schemas.Event) {
					var request schemas.ExecutionRequest
					if err := schemas.Unmarshal(e.Data, &request); err != nil {
						t.Fatal(err)
					}
					request.Payload.Tasks[0].Context.Tainted = c.tainted
					body, err := schemas.Marshal(request)
					if err != nil {
						t.Fatal(err)
					}
					e.ReplyTo, e.Data = "", body
				})
				synctest.Wait()
				stored, err := s.ledger.Last(t.Context(), bus.ServiceSubject(agentName, string(bus.KindResponse)))
				if err != nil {
					t.Fatal(err)
				}
				if said, err := schemas.DecodeExecutionResponse(stored.Body); err != nil || said.Payload.Status != c.want {
					t.Errorf("it answers %s: %+v, %v", said.Payload.Status, said.Payload.IssuesEncountered, err)
				}
				mustStop(t, stop)
			})
		})
	}
}

// TestPermitIsForOneAction: nobody gets a permit for one thing and does another by it.
func TestPermitIsForOneAction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1)
		var second error
		stop := s.serve(t, func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			if err := request.PermitFor(ctx, letter("Hello")); err != nil {
				return agent.Outcome{}, err
			}
			if err := request.PermitFor(ctx, letter("Hello")); err != nil {
				t.Errorf("the same once more: %v", err)
			}
			second = request.PermitFor(ctx, letter("Give me your money"))
			return agent.Text("done"), second
		})
		s.ask(t, 1, nil)
		questions, _ := s.questions(t)
		s.decide(t, schemas.PermitAnswer{Permit: questions[0].MessageID, Granted: true})
		if said := s.one(t).Payload; said.Status != schemas.StatusFailed || second == nil || errors.Is(second, bus.ErrNotPermitted) || !strings.Contains(second.Error(), "another") {
			t.Errorf("it answers %s after %v", said.Status, second)
		}
		mustStop(t, stop)
	})
}
