package bustest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
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
	Kinds []schemas.TaskKind
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

// TestHandler holds an agent to what the bus expects of every one: exactly one
// response to each request, valid messages, the same response to a repeat, a refusal
// of the kinds that it does not declare. Each test opens a system of its own.
func TestHandler(t *testing.T, open func(t *testing.T) HandlerSystem) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, *conversation)
	}{
		{"AnswersOnce", testAnswersOnce},
		{"AnswersManyAtOnce", testAnswersMany},
		{"RepeatGetsTheSameResponse", testRepeat},
		{"BareJSONIsEnough", testBareRequest},
		{"StructuredModeIsEnough", testStructuredRequest},
		{"LargeRequestByReference", testLargeRequest},
		{"ExpiredIsRefused", testExpired},
		{"GarbageStopsNobody", testGarbage},
		{"InvalidRequestFails", testInvalidRequest},
		{"UndeclaredKindIsRefused", testUndeclaredKind},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &conversation{HandlerSystem: open(t)}
			c.permit(t)
			test.run(t, c)
		})
	}
}

// A conversation asks an agent and reads what it says.
type conversation struct {
	HandlerSystem
	asked int
}

// request returns a new request and the event that carries it to shard 1.
func (c *conversation) request(t *testing.T) (schemas.ExecutionRequest, schemas.Event) {
	t.Helper()
	c.asked++
	run := schemas.RunID(schemas.SessionID("test", t.Name()), c.asked)
	task := c.Task(c.asked)
	task.AssignedTo = c.Agent
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: schemas.RequestID(1, 1, run, task.TaskID, 1), From: "supervisor", To: c.Agent,
			Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: time.Now().UTC(),
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(run), RequestID: run, Tasks: []schemas.Task{task},
			AgentAssignments:   map[string][]string{c.Agent: {task.TaskID}},
			ValidationCriteria: []string{}, Risks: []schemas.Risk{},
		},
	}
	return request, schemas.Event{
		ID: request.MessageID, Source: binding.SourceOf("supervisor"), Type: schemas.TypeExecutionRequest,
		Subject: run + "/" + task.TaskID, Time: request.Timestamp, DataContentType: schemas.MediaTypeJSON,
		PartitionKey: "key", CorrelationID: run, CausationID: uuid.NewString(), Attempt: 1,
		EffectID: schemas.EffectID(run, task.TaskID), ReplyTo: bus.ResponseSubject(c.Agent, 1), Data: marshal(t, request),
	}
}

// permit lets the agent act whenever it asks, as the owner of shard 1 would.
func (c *conversation) permit(t *testing.T) {
	t.Helper()
	r := mustRead(t, c.Core, bus.ShardStream(1), 1, bus.PermitSubject(c.Agent, 1))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for m, err := bus.Next(ctx, r); err == nil; m, err = bus.Next(ctx, r) {
			e, err := binding.Decode(m)
			if err != nil || schemas.Validate(schemas.EnvelopeTypePermitRequest, e.Data) != nil {
				t.Errorf("the question for a permit is not valid: %s", m.Body)
				continue
			}
			answer, err := schemas.Marshal(schemas.PermitAnswer{Permit: e.ID, Granted: true})
			if err == nil {
				err = c.Core.Signal(bus.ServiceSubject(c.Agent, bus.SignalPermitted), answer)
			}
			if err != nil {
				t.Errorf("the answer to a question for a permit: %v", err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-stopped
	})
}

func (c *conversation) grants(t *testing.T) *artifact.Grants {
	t.Helper()
	grants, err := artifact.OpenGrants(deadline(t), c.Core, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return grants
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	body, err := schemas.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (c *conversation) send(t *testing.T, e schemas.Event) {
	t.Helper()
	m, err := binding.Encode(bus.RequestSubject(c.Agent), &e)
	if err != nil {
		t.Fatal(err)
	}
	c.sendRaw(t, m)
}

func (c *conversation) sendRaw(t *testing.T, m bus.Message) {
	t.Helper()
	m.Subject = bus.RequestSubject(c.Agent)
	if _, err := bus.Append(deadline(t), c.Core, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
}

// A spoken message is a response with the event that carried it.
type spoken struct {
	schemas.ExecutionResponse
	event schemas.Event
}

func (c *conversation) reader(t *testing.T, sharded bool) bus.Reader {
	t.Helper()
	if sharded {
		return mustRead(t, c.Core, bus.ShardStream(1), 1, bus.ResponseSubject(c.Agent, 1))
	}
	return mustRead(t, c.Core, bus.WorkStream, 1, bus.ServiceSubject(c.Agent, string(bus.KindResponse)))
}

// hear waits for the next response.
func (c *conversation) hear(t *testing.T, r bus.Reader) spoken {
	t.Helper()
	m, err := bus.Next(deadline(t), r)
	if err != nil {
		t.Fatalf("no response: %v", err)
	}
	return c.understand(t, m)
}

// understand checks what holds for every response.
func (c *conversation) understand(t *testing.T, m bus.Message) spoken {
	t.Helper()
	e, err := binding.Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	if body := e.Artifact; body != nil && !c.grants(t).HasPut(body.Grant, c.Agent, body.SHA256) {
		t.Errorf("the reference to the body has no grant that the agent has put it: %+v", body)
	}
	if err := artifact.Resolve(deadline(t), c.Core.Artifacts(), &e); err != nil {
		t.Fatal(err)
	}
	if err := schemas.Validate(schemas.EnvelopeTypeExecutionResponse, e.Data); err != nil {
		t.Errorf("the response is not valid: %v\n%s", err, e.Data)
	}
	s := spoken{event: e}
	if err := schemas.Unmarshal(e.Data, &s.ExecutionResponse); err != nil {
		t.Fatal(err)
	}
	if s.From != c.Agent || s.MessageID != e.ID || s.InReplyTo != e.CausationID || e.Source != binding.SourceOf(c.Agent) || e.Time.IsZero() {
		t.Errorf("envelope %+v and attributes %+v disagree", s.Envelope, e)
	}
	return s
}

// quiet is how long nothing may be said before all is said.
const quiet = 300 * time.Millisecond

// settle asks once more and listens until that is answered and nothing follows;
// it returns all responses but this one.
func (c *conversation) settle(t *testing.T) []spoken {
	t.Helper()
	last, e := c.request(t)
	c.send(t, e)
	r := c.reader(t, true)
	var others []spoken
	for answered := false; ; {
		wait := patience
		if answered {
			wait = quiet
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		m, err := bus.Next(ctx, r)
		cancel()
		switch {
		case err != nil && answered && errors.Is(err, context.DeadlineExceeded):
			c.checkProgress(t)
			return others
		case err != nil:
			t.Fatalf("no response: %v", err)
		}
		if s := c.understand(t, m); s.InReplyTo == last.MessageID {
			answered = true
		} else {
			others = append(others, s)
		}
	}
}

func (c *conversation) checkProgress(t *testing.T) {
	t.Helper()
	percentage := make(map[string]int)
	for m, err := range c.Core.Scan(deadline(t), bus.ShardStream(1), 1, bus.ProgressSubject(c.Agent, 1)) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := binding.Decode(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas.Validate(schemas.EnvelopeTypeProgressUpdate, e.Data); err != nil {
			t.Errorf("the progress is not valid: %v\n%s", err, e.Data)
		}
		var update schemas.ProgressUpdate
		if err := schemas.Unmarshal(e.Data, &update); err != nil {
			t.Fatal(err)
		}
		if update.Payload.ProgressPercentage < percentage[update.InReplyTo] {
			t.Errorf("progress fell to %d%%", update.Payload.ProgressPercentage)
		}
		percentage[update.InReplyTo] = update.Payload.ProgressPercentage
	}
}
