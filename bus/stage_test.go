package bus_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
)

// A stage is an agent at work in a bubble of virtual time.
type stage struct {
	ledger *memory.Ledger
	log    *syncBuffer
	config bus.ServeConfig
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
	agent   = "actor"
	ackWait = 30 * time.Second
)

func newStage(t *testing.T, size int) *stage {
	t.Helper()
	s := &stage{ledger: memory.New(1), log: &syncBuffer{}, wrap: func(w bus.Worker) bus.Worker { return w }}
	s.config = bus.ServeConfig{Concurrency: size, AckWait: ackWait, Log: zerolog.New(s.log)}
	if err := s.ledger.Declare(t.Context(), agent, bus.Pool{Size: size, AckWait: ackWait}); err != nil {
		t.Fatal(err)
	}
	return s
}

// core serves the agent as the core does, until the test ends.
func (s *stage) core(t *testing.T) *bus.Grants {
	t.Helper()
	stop, err := bus.ServeAgents(t.Context(), s.ledger, bus.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	grants, err := bus.OpenGrants(t.Context(), s.ledger, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return grants
}

// serve runs the handler; stop ends the context and returns what Serve returned.
func (s *stage) serve(t *testing.T, handle bus.HandlerFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- bus.Serve(ctx, s.wrap(s.ledger.Worker(agent)), handle, s.config) }()
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
	task.AssignedTo = agent
	id := schemas.RequestID(0, run, task.TaskID, 1)
	body, err := schemas.Marshal(schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "supervisor", To: agent, Type: schemas.ExecutionRequestType, Timestamp: time.Now().UTC()},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(run), RequestID: run, Tasks: []schemas.Task{task},
			AgentAssignments: map[string][]string{agent: {task.TaskID}}, ValidationCriteria: []string{}, Risks: []schemas.Risk{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := schemas.Event{
		ID: id, Source: bus.SourceOf("supervisor"), Type: schemas.TypeExecutionRequest, DataContentType: schemas.MediaTypeJSON,
		CorrelationID: run, Attempt: 1, ReplyTo: bus.ResponseSubject(agent, 0), First: s.ledger.Server(), Data: body,
	}
	if change != nil {
		change(&e)
	}
	m, err := bus.Encode(bus.RequestSubject(agent), &e)
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
	for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.ResponseSubject(agent, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := bus.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := bus.Resolve(t.Context(), s.ledger.Artifacts(), &e); err != nil {
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
	for m, err := range s.ledger.Scan(t.Context(), bus.ShardStream(0), 1, bus.ProgressSubject(agent, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := bus.Decode(m)
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
	if left := s.ledger.Worker(agent).TryFetch(10); len(left) > 0 {
		t.Errorf("%d requests come again", len(left))
	}
}

func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}
