package agent_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

// A stage is an agent at work in a bubble of virtual time.
type stage struct {
	ledger *memory.Ledger
	log    *syncBuffer
	config agent.ServeConfig
	wrap   func(bus.Worker) bus.Worker
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

const (
	agentName = "actor"
	ackWait   = 30 * time.Second
)

func newStage(t *testing.T, size int) *stage {
	t.Helper()
	s := &stage{ledger: memory.New(1), log: &syncBuffer{}, wrap: func(w bus.Worker) bus.Worker { return w }}
	s.config = agent.ServeConfig{Concurrency: size, AckWait: ackWait, Log: zerolog.New(s.log)}
	if err := s.ledger.Declare(t.Context(), agentName, bus.Pool{Size: size, AckWait: ackWait}); err != nil {
		t.Fatal(err)
	}
	return s
}

// core serves the agent as the core does, until the test ends.
func (s *stage) core(t *testing.T) *artifact.Grants {
	t.Helper()
	stop, err := registry.ServeAgents(t.Context(), s.ledger, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	grants, err := artifact.OpenGrants(t.Context(), s.ledger, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return grants
}

// serve runs the handler; stop ends the context and returns what Serve returned.
func (s *stage) serve(t *testing.T, handle agent.HandlerFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- agent.Serve(ctx, s.wrap(s.ledger.Worker(agentName)), handle, s.config) }()
	return func() error {
		cancel()
		return <-served
	}
}

// ask publishes a request as its owner does for the first time.
func (s *stage) ask(t *testing.T, n int, change func(*schemas.Event)) string {
	t.Helper()
	run := schemas.RunID(schemas.SessionID("stage", "1"), n)
	task := echoTask(n)
	task.AssignedTo = agentName
	id := schemas.RequestID(0, 1, run, task.TaskID, 1)
	body, err := schemas.Marshal(schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "supervisor", To: agentName, Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: time.Now().UTC()},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(run), RequestID: run, Tasks: []schemas.Task{task},
			AgentAssignments: map[string][]string{agentName: {task.TaskID}}, ValidationCriteria: []string{}, Risks: []schemas.Risk{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := schemas.Event{
		ID: id, Source: binding.SourceOf("supervisor"), Type: schemas.TypeExecutionRequest, DataContentType: schemas.MediaTypeJSON,
		CorrelationID: run, Attempt: 1, ReplyTo: bus.ResponseSubject(agentName, 0), First: s.ledger.Server(), Data: body,
	}
	if change != nil {
		change(&e)
	}
	m, err := binding.Encode(bus.RequestSubject(agentName), &e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Append(t.Context(), s.ledger, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	return id
}

type said struct {
	schemas.ExecutionResponse
	recorded time.Time
}

// responses returns what stands on the ledger once everything is at rest.
func (s *stage) responses(t *testing.T) (all []said) {
	t.Helper()
	synctest.Wait()
	for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.ResponseSubject(agentName, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := artifact.Resolve(t.Context(), s.ledger.Artifacts(), &e); err != nil {
			t.Fatal(err)
		}
		response, err := schemas.DecodeExecutionResponse(e.Data)
		if err != nil {
			t.Fatalf("%v: %s", err, e.Data)
		}
		all = append(all, said{response, m.Recorded})
	}
	return all
}

func (s *stage) progress(t *testing.T) (all []schemas.ProgressUpdate, at []time.Time) {
	t.Helper()
	synctest.Wait()
	for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.ProgressSubject(agentName, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		update, err := schemas.DecodeProgressUpdate(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		all, at = append(all, update), append(at, m.Recorded)
	}
	return all, at
}

// one returns the only response there is.
func (s *stage) one(t *testing.T) said {
	t.Helper()
	all := s.responses(t)
	if len(all) != 1 {
		t.Fatalf("%d responses, want 1; log:\n%s", len(all), s.log)
	}
	return all[0]
}

// nothingPending fails when a request is still the queue's.
func (s *stage) nothingPending(t *testing.T) {
	t.Helper()
	time.Sleep(2 * ackWait) // virtual
	if left := s.ledger.Worker(agentName).TryFetch(10); len(left) > 0 {
		t.Errorf("%d requests come again", len(left))
	}
}

func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}
