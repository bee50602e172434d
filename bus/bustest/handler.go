package bustest

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/agent/conformance"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

// A HandlerSystem is an agent at work on a ledger. Whether Serve runs it or it
// pulls its requests itself makes no difference from outside.
type HandlerSystem struct {
	Core  bus.Core
	Agent string
	// Task returns the n-th task of those that the agent completes.
	Task func(n int) schemas.Task
	// Kinds are those that the agent declares; work when there are none.
	Kinds []schemas.RequestKind
}

// ServeHandler runs a handler that declares work by agent.Serve on a new in-process
// ledger until the test ends. No request of another kind may reach the handler.
func ServeHandler(t *testing.T, agentName string, handler agent.Handler, task func(n int) schemas.Task) HandlerSystem {
	t.Helper()
	ledger := memory.New(2)
	pool := bus.Pool{Size: 4, AckWait: 10 * time.Second}
	if err := ledger.Declare(t.Context(), agentName, pool); err != nil {
		t.Fatal(err)
	}
	stop, err := registry.ServeAgents(t.Context(), ledger, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() {
		served <- agent.Serve(ctx, ledger.Worker(agentName), onlyWork(t, handler), agent.ServeConfig{
			Concurrency: pool.Size, AckWait: pool.AckWait, DrainTimeout: time.Second, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel),
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return HandlerSystem{Core: ledger, Agent: agentName, Task: task}
}

func onlyWork(t *testing.T, handler agent.Handler) agent.Handler {
	t.Helper()
	return agent.HandlerFunc(func(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
		if kind, undeclared := request.Undeclared(schemas.KindWork); undeclared {
			t.Errorf("the handler was called for a request of kind %s", kind)
		}
		return handler.Handle(ctx, request, report)
	})
}

// TestHandler holds an agent to what the bus expects of every one, by the checks of package
// conformance: exactly one response to each request, valid messages, the same response to
// a repeat, a refusal of the kinds that it does not declare. Each opens a system of its own.
func TestHandler(t *testing.T, open func(t *testing.T) HandlerSystem) {
	t.Helper()
	for _, check := range conformance.Checks(conformance.Handlers) {
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			system := open(t)
			stage := &conformance.Stage{Core: system.Core, Agent: system.Agent, Task: system.Task, Kinds: system.Kinds}
			if len(stage.Kinds) == 0 {
				stage.Kinds = []schemas.RequestKind{schemas.KindWork}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
			defer cancel()
			if err := check.Run(ctx, stage); err != nil {
				t.Errorf("%s %v", check.Asks, err)
			}
		})
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	body, err := schemas.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
