package conformance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/agent/conformance"
	"podium/bus/bustest"
	"podium/bus/memory"
	"podium/schemas"
)

// careless answers whatever it can read, and twice. At what it cannot read it ends.
func careless(ctx context.Context, worker bus.Worker) {
	for {
		deliveries, err := worker.Fetch(ctx, 1)
		if err != nil {
			return
		}
		m := deliveries[0].Message()
		var request schemas.ExecutionRequest
		replyTo := m.Header["ce-replyto"]
		if schemas.Unmarshal(m.Body, &request) != nil || len(replyTo) == 0 {
			return
		}
		for range 2 {
			body := fmt.Sprintf(`{"message_id": %q, "from": "careless", "to": "supervisor", "type": "execution_response", "timestamp": "2026-11-24T10:00:00Z",
				"in_reply_to": %q, "payload": {"status": "completed", "plan_id": %q}}`, uuid.NewString(), request.MessageID, request.Payload.PlanID)
			if _, err := worker.Publish(ctx, bus.Message{Subject: replyTo[0], Body: []byte(body)}); err != nil {
				return
			}
		}
		if deliveries[0].Ack(ctx) != nil {
			return
		}
	}
}

func task(n int) schemas.Task {
	return schemas.Task{
		TaskID: fmt.Sprint("task-", n), Description: "say something", Dependencies: []string{},
		Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
		Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
	}
}

// TestCarelessAgentPassesNothing: every check of agents in Go can fail, in a sentence of its own.
func TestCarelessAgentPassesNothing(t *testing.T) {
	t.Parallel()
	says := map[string]string{
		"answers-once":             "there are 2 responses to one request",
		"answers-many":             "one of 20 requests is answered twice, while others wait",
		"repeats-its-answer":       "a request that came again is answered under another message_id",
		"reads-bare-json":          "no answer came within 2m0s",
		"reads-structured-events":  "no answer came within 2m0s",
		"reads-large-requests":     "no answer came within 2m0s",
		"skips-expired-requests":   "a request that nobody waits for any more got",
		"survives-garbage":         "no answer came within 2m0s",
		"refuses-invalid-requests": "completed",
		"refuses-undeclared-kinds": "responses to 3 requests of kinds that it does not declare",
	}
	checks := conformance.Checks(conformance.Handlers)
	if len(checks) != len(says) {
		t.Fatalf("there are %d checks, and %d are expected", len(checks), len(says))
	}
	for _, check := range checks {
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ledger := memory.New(2)
				if err := ledger.Declare(t.Context(), "careless", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					careless(ctx, ledger.Worker("careless"))
				}()
				err := check.Run(t.Context(), &conformance.Stage{
					Core: ledger, Agent: "careless", Kinds: []schemas.RequestKind{schemas.KindWork},
					Task: task,
				})
				if err == nil || !strings.Contains(err.Error(), says[check.Name]) {
					t.Errorf("it says %v, want %q", err, says[check.Name])
				}
				cancel()
				<-ended
			})
		})
	}
}

// TestLateAnswersAreWaitedFor: an agent that answers a request later than the next one answers it, however much later.
func TestLateAnswersAreWaitedFor(t *testing.T) {
	t.Parallel()
	for _, check := range conformance.Checks(conformance.Handlers) {
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				late := agent.HandlerFunc(func(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
					if request.Task().TaskID == task(1).TaskID {
						time.Sleep(10 * time.Second)
					}
					return agent.Text("done"), nil
				})
				system := bustest.ServeHandler(t, "late", late, task)
				stage := &conformance.Stage{Core: system.Core, Agent: system.Agent, Task: system.Task, Kinds: []schemas.RequestKind{schemas.KindWork}}
				if err := check.Run(t.Context(), stage); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Whoever reads what is wrong is told what to do, and no two checks have one name.
func TestChecksSayWhatToDo(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, scope := range []conformance.Scope{conformance.Everywhere, conformance.Handlers, conformance.Programs} {
		seen := map[string]bool{}
		for _, check := range conformance.Checks(scope) {
			if seen[check.Name] || check.Asks == "" || check.Mend == "" {
				t.Errorf("%+v", check)
			}
			seen[check.Name], names[check.Name] = true, true
		}
	}
	if len(names) != 22 {
		t.Errorf("there are %d checks", len(names))
	}
}
