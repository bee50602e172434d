package supervisor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/agent"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/gateway"
	"podium/supervisor/restore"
)

// A nest is a ledger on which supervisors, agents and owners are at work.
type nest struct {
	*desk
	t *testing.T
}

// leaseTime is the ack-wait of everybody in a nest.
const leaseTime = 30 * time.Second

// tier is a profile of a plan's tier: work goes to whom the plan names, else to
// its first agent.
func tier(name string, agents ...string) schemas.Profile {
	profile := deskProfile()
	profile.Name, profile.Agents = name, nil
	for _, agent := range agents {
		profile.Agents = append(profile.Agents, schemas.AgentUse{Name: agent})
	}
	profile.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}, {Kind: schemas.RouterDefault, Agent: agents[0]}}
	profile.Execution.Mode = schemas.ExecutionDAG
	return profile
}

// newNest starts an owner for every shard.
func newNest(t *testing.T, shards int, profiles ...schemas.Profile) *nest {
	t.Helper()
	n := &nest{desk: &desk{tb: t, ledger: memory.New(shards), now: midnight()}, t: t}
	var err error
	n.profiles, err = restore.NewProfiles(t.Context(), n.ledger.Artifacts(), profiles)
	n.must(err)
	stop, err := registry.ServeAgents(t.Context(), n.ledger, registry.AgentServices{Clock: time.Now})
	n.must(err)
	t.Cleanup(stop)
	for shard := range shards {
		owner := supervisor.NewOwner(supervisor.Config{
			Shard: shard, Name: "nest", Core: n.ledger, Profiles: n.profiles, Log: zerolog.Nop(),
		})
		n.start(func(ctx context.Context) error { return owner.Run(ctx) })
	}
	return n
}

// start runs a part until the test ends.
func (n *nest) start(part func(ctx context.Context) error) {
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.WithoutCancel(n.t.Context()))
	go func() { ended <- part(ctx) }()
	n.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			n.t.Errorf("a part of the nest ended with %v", err)
		}
	})
}

func (n *nest) declare(agent string) {
	n.tb.Helper()
	n.must(n.ledger.Declare(context.Background(), agent, bus.Pool{Size: 8, AckWait: leaseTime}))
}

// employ runs an agent.
func (n *nest) employ(agentName string, handle agent.HandlerFunc) {
	n.tb.Helper()
	n.declare(agentName)
	worker := n.ledger.Worker(agentName)
	n.start(func(ctx context.Context) error {
		return agent.Serve(ctx, worker, handle, agent.ServeConfig{Concurrency: 8, AckWait: leaseTime, DrainTimeout: time.Millisecond, Log: zerolog.Nop()})
	})
}

// appoint runs a supervisor of that name by a profile.
func (n *nest) appoint(name, profile string) {
	n.tb.Helper()
	n.declare(name)
	n.receive(n.ledger, n.ledger.Worker(name), profile)
}

func (n *nest) receive(core bus.Core, worker bus.Worker, profile string) {
	receiver := gateway.Receiver{
		Core: core, Worker: worker, Profile: profile,
		Serve: agent.ServeConfig{Concurrency: 4, AckWait: leaseTime, DrainTimeout: time.Second, Log: zerolog.Nop()},
	}
	n.start(receiver.Run)
}

// say repeats its task.
func say(_ context.Context, request *agent.Request, _ agent.Report) (agent.Outcome, error) {
	return agent.Text(request.Task().Description), nil
}

func taskFor(agent, id string, dependencies ...string) schemas.Task {
	return schemas.Task{
		TaskID: id, Description: "do " + id, AssignedTo: agent, Dependencies: append([]string{}, dependencies...),
		Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
		Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
	}
}

// demand is a request of somebody outside, for the n-th attempt of a piece of
// work. It names no subject for the answer.
func (n *nest) demand(to, work string, attempt int, tasks ...schemas.Task) (schemas.ExecutionRequest, schemas.Event) {
	n.tb.Helper()
	assignments := map[string][]string{}
	for _, task := range tasks {
		assignments[task.AssignedTo] = append(assignments[task.AssignedTo], task.TaskID)
	}
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{
			MessageID: schemas.EffectID(work, fmt.Sprint("request ", attempt)), From: "planner", To: to,
			Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: midnight(),
		},
		Payload: schemas.RequestPayload{
			PlanID: schemas.PlanID(work), RequestID: work, Tasks: tasks, AgentAssignments: assignments,
			ValidationCriteria: []string{}, Risks: []schemas.Risk{},
		},
	}
	body, err := schemas.Marshal(request)
	n.must(err)
	return request, schemas.Event{
		ID: request.MessageID, Source: binding.SourceOf("planner"), Type: schemas.TypeExecutionRequest, Subject: work + "/all", Time: midnight(),
		DataContentType: schemas.MediaTypeJSON, Attempt: attempt, EffectID: schemas.EffectID(work, "all"), Data: body,
	}
}

// ask sends a request and returns its id.
func (n *nest) ask(to, work string, attempt int, tasks ...schemas.Task) string {
	n.tb.Helper()
	_, event := n.demand(to, work, attempt, tasks...)
	n.put(bus.RequestSubject(to), &event)
	return event.ID
}

// answers returns what an agent has answered so far to those outside.
func (n *nest) answers(agent string) (all []schemas.ExecutionResponse) {
	n.tb.Helper()
	for _, event := range n.events(bus.WorkStream, bus.ServiceSubject(agent, string(bus.KindResponse))) {
		n.must(artifact.Resolve(context.Background(), n.ledger.Artifacts(), &event))
		n.must(schemas.Validate(schemas.EnvelopeTypeExecutionResponse, event.Data))
		var response schemas.ExecutionResponse
		n.must(schemas.Unmarshal(event.Data, &response))
		all = append(all, response)
	}
	return all
}

// told returns what an agent has told those outside about how far it is, and when.
func (n *nest) told(agent string) (all []schemas.ProgressUpdate, at []time.Time) {
	n.tb.Helper()
	for message, err := range n.ledger.Scan(context.Background(), bus.WorkStream, 1, bus.ServiceSubject(agent, string(bus.KindProgress))) {
		n.must(err)
		n.must(schemas.Validate(schemas.EnvelopeTypeProgressUpdate, message.Body))
		update, err := schemas.DecodeProgressUpdate(message.Body)
		n.must(err)
		all, at = append(all, update), append(at, message.Recorded)
	}
	return all, at
}

// sessionHistoryOf returns the session that a profile has about a partition key.
func (n *nest) sessionHistoryOf(profile, key string) *workflow.SessionHistory {
	n.tb.Helper()
	var folded workflow.SessionHistory
	for record, err := range history.LoadSession(context.Background(), n.ledger, schemas.SessionID(profile, key)) {
		n.must(err)
		n.must(folded.Apply(record.Record))
	}
	return &folded
}

// below returns the session of the supervisor that does a task of a piece of work.
func (n *nest) below(profile, effect, task string) *workflow.SessionHistory {
	n.tb.Helper()
	return n.sessionHistoryOf(profile, schemas.EffectID(effect, task))
}
