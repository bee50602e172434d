package supervisor_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/restore"
	"podium/supervisor/verify"
)

// graphProfile carries out plans that come with a request.
func graphProfile() schemas.Profile {
	profile := deskProfile()
	profile.Name = "graph"
	profile.Routers = []schemas.Router{{Kind: schemas.RouterAssigned}}
	profile.Planner = &schemas.Planner{Kind: schemas.PlannerExternal, MaxTasks: 1000}
	profile.Execution = schemas.Execution{Mode: schemas.ExecutionDAG}
	return profile
}

// diamond is A → B∥C → D, fan one task for each of many and one behind them all.
func diamond() []schemas.Task {
	return []schemas.Task{
		planTask("a"), planTask("b", "a"), planTask("c", "a"), planTask("d", "b", "c"),
	}
}

func fan(width int) []schemas.Task {
	tasks, names := make([]schemas.Task, width), make([]string, width)
	for i := range tasks {
		names[i] = fmt.Sprintf("t%d", i+1)
		tasks[i] = planTask(names[i])
	}
	return append(tasks, planTask("join", names...))
}

func planTask(id string, dependencies ...string) schemas.Task {
	return schemas.Task{TaskID: id, Description: "Do " + id + ".", AssignedTo: "worker", Dependencies: dependencies}
}

// graphs is a desk whose one worker answers at once.
type graphs struct {
	*desk
	owner    *supervisor.Owner
	worker   *memory.Worker
	answered int
}

func newGraphs(tb testing.TB) *graphs {
	tb.Helper()
	d := newDesk(tb, 1)
	var err error
	d.profiles, err = restore.NewProfiles(tb.Context(), d.ledger.Artifacts(), []schemas.Profile{graphProfile()})
	d.must(err)
	d.must(d.ledger.Declare(tb.Context(), "worker", bus.Pool{Size: 1000, AckWait: time.Hour}))
	return &graphs{desk: d, owner: d.open("graphs", d.ledger, 0), worker: d.ledger.Worker("worker")}
}

// request publishes an execution_request with a plan.
func (g *graphs) request(number int, tasks []schemas.Task) {
	g.tb.Helper()
	id := schemas.EffectID("request", strconv.Itoa(number))
	body, err := schemas.Marshal(schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "planner", To: "graph", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: g.now},
		Payload:  schemas.RequestPayload{PlanID: id, RequestID: id, Tasks: tasks},
	})
	g.must(err)
	g.put(bus.InSubject("agent", 0), &schemas.Event{
		ID: id, Source: "/podium/planner", Type: schemas.TypeExecutionRequest, Time: g.now, Profile: "graph", PartitionKey: id,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// round lets the owner work and the worker answer what it was asked, and
// reports whether it was asked anything.
func (g *graphs) round() bool {
	g.tb.Helper()
	g.must(g.work(g.owner))
	deliveries := g.worker.TryFetch(1000)
	for _, delivery := range deliveries {
		event, err := binding.Decode(delivery.Message())
		g.must(err)
		response := g.response("worker", &event, "done")
		response.Payload.PlanID = event.ID
		body, err := schemas.Marshal(response)
		g.must(err)
		g.put(bus.ResponseSubject("worker", 0), &schemas.Event{
			ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Time: g.now,
			Subject: event.Subject, CausationID: event.ID, Attempt: event.Attempt, DataContentType: schemas.MediaTypeJSON, Data: body,
		})
		g.must(delivery.Ack(g.tb.Context()))
		g.answered++
	}
	return len(deliveries) > 0
}

// carryOut asks for plans of these tasks, one after another, and returns how many.
func (g *graphs) carryOut(b *testing.B, tasks []schemas.Task, ask func(number int, tasks []schemas.Task)) int {
	b.Helper()
	b.ReportAllocs()
	runs := 0
	for b.Loop() {
		runs++
		ask(runs, tasks)
		for g.round() {
		}
	}
	if want := runs * len(tasks); g.answered != want {
		b.Fatalf("%d tasks were answered, want %d", g.answered, want)
	}
	return runs
}

// BenchmarkGraph is the owner's own cost of a run, with a ledger that costs
// little: no network, no disk, agents that answer at once.
func BenchmarkGraph(b *testing.B) {
	for name, tasks := range map[string][]schemas.Task{"diamond": diamond(), "fan of 100": fan(100)} {
		b.Run(name, func(b *testing.B) {
			g := newGraphs(b)
			runs := g.carryOut(b, tasks, g.request)
			state, err := g.ledger.State(b.Context(), bus.ShardStream(0))
			g.must(err)
			b.ReportMetric(float64(state.Messages)/float64(runs), "messages/run")
			b.ReportMetric(float64(state.Bytes)/float64(runs), "bytes/run")
		})
	}
}

// TestGraphRuns_M55: a plan that comes with a request is carried out, and the
// answer goes to whoever asked.
func TestGraphRuns_M55(t *testing.T) {
	t.Parallel()
	for name, tasks := range map[string][]schemas.Task{"diamond": diamond(), "fan": fan(20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGraphs(t)
			g.request(1, tasks)
			for g.round() {
			}
			if g.answered != len(tasks) {
				t.Fatalf("%d tasks were answered, want %d", g.answered, len(tasks))
			}
			answers := g.events(bus.WorkStream, bus.ServiceSubject("graph", "response"))
			if len(answers) != 1 {
				t.Fatalf("%d answers", len(answers))
			}
			response, err := schemas.DecodeExecutionResponse(answers[0].Data)
			if err != nil || response.Payload.Status != schemas.StatusCompleted || response.Payload.ExecutionSummary.TasksCompleted != len(tasks) {
				t.Errorf("%v: %s", err, answers[0].Data)
			}
			verification, err := verify.Shard(t.Context(), g.ledger, g.profiles, 0, "")
			if err != nil || len(verification.Faults) > 0 {
				t.Errorf("%v: %+v", err, verification.Faults)
			}
		})
	}
}
