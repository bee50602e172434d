package bustest

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/binding"
	"podium/schemas"
)

// testFirst: who is handed the fresh copy of a request by the server that took it can
// tell that nobody was handed it before, and nobody else can (see bus.IsFirstDelivery).
func testFirst(t *testing.T, s System) {
	declare(t, s, "echo", 1)
	w := s.Worker(t, "echo")
	if s.Core.Server() == "" {
		t.Fatal("the server has no name")
	}
	for _, test := range []struct {
		name  string
		first string
		want  bool
	}{
		{"FreshCopyIsBelieved", s.Core.Server(), true},
		{"CopyOfAnotherServerIsNot", "another", false},
		{"LaterCopyIsNot", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			publishRequest(t, s, "echo", test.name, test.first)
			d := fetch(t, w, 1)[0]
			e := decoded(t, d)
			if d.Server() != s.Core.Server() || d.Deliveries() != 1 || bus.IsFirstDelivery(&e, d) != test.want {
				t.Errorf("delivery %d by %q of a copy for %q is believed to be the first: %t", d.Deliveries(), d.Server(), e.First, !test.want)
			}
			ack(t, d)
		})
	}
	t.Run("SecondDeliveryIsNot", func(t *testing.T) {
		publishRequest(t, s, "echo", t.Name(), s.Core.Server())
		if err := fetch(t, w, 1)[0].Nak(0); err != nil {
			t.Fatal(err)
		}
		again := fetch(t, w, 1)[0]
		if e := decoded(t, again); again.Deliveries() != 2 || bus.IsFirstDelivery(&e, again) {
			t.Errorf("delivery %d is believed to be the first", again.Deliveries())
		}
		ack(t, again)
	})
	t.Run("ItsLeaveTakesNoQuestion", func(t *testing.T) { testLeaveComesAlong(t, s) })
}

// testLeaveComesAlong: the permit that comes along costs no question.
func testLeaveComesAlong(t *testing.T, s System) {
	declare(t, s, "member", 1)
	permitted := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	worker := s.Worker(t, "member")
	go func() {
		served <- agent.Serve(ctx, worker, agent.HandlerFunc(func(ctx context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
			permitted <- request.Permit(ctx)
			return agent.Text("done"), nil
		}), agent.ServeConfig{AckWait: ackWait, DrainTimeout: time.Second, Log: zerolog.Nop()})
	}()
	publishRequest(t, s, "member", "leave", s.Core.Server())
	select {
	case err := <-permitted:
		if err != nil {
			t.Errorf("the permit that came along: %v", err)
		}
	case <-deadline(t).Done():
		t.Error("it waits for a permit")
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	for m, err := range s.Core.Scan(deadline(t), bus.ShardStream(0), 1, bus.PermitSubject("member", 0)) {
		t.Errorf("it has asked: %s, %v", m.Body, err)
	}
}

// publishRequest publishes a request that brings its permit along.
func publishRequest(t *testing.T, s System, agent, name, first string) {
	t.Helper()
	run := schemas.RunID(schemas.SessionID("first", name), 1)
	id := schemas.RequestID(0, 1, run, "t1", 1)
	e := schemas.Event{
		ID: id, Source: binding.SourceOf("supervisor"), Type: schemas.TypeExecutionRequest, Time: time.Now().UTC(),
		DataContentType: schemas.MediaTypeJSON, CorrelationID: run, Attempt: 1, EffectID: schemas.EffectID(run, "t1"),
		ReplyTo: bus.ResponseSubject(agent, 0), Permit: schemas.PermitID(id), First: first,
		Data: marshal(t, schemas.ExecutionRequest{
			Envelope: schemas.Envelope{MessageID: id, From: "supervisor", To: agent, Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: time.Now().UTC()},
			Payload: schemas.RequestPayload{
				PlanID: schemas.PlanID(run), RequestID: run, AgentAssignments: map[string][]string{agent: {"t1"}},
				ValidationCriteria: []string{}, Risks: []schemas.Risk{},
				Tasks: []schemas.Task{{
					TaskID: "t1", Description: "act", AssignedTo: agent, Dependencies: []string{}, Priority: schemas.PriorityMedium,
					Deliverables: []string{}, ValidationCriteria: []string{},
					Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
				}},
			},
		}),
	}
	m, err := binding.Encode(bus.RequestSubject(agent), &e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Append(deadline(t), s.Core, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
}

func decoded(t *testing.T, d bus.Delivery) schemas.Event {
	t.Helper()
	e, err := binding.Decode(d.Message())
	if err != nil {
		t.Fatal(err)
	}
	return e
}
