package supervisor_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

// laden is a fan whose tasks each bring something of so many bytes to build on.
func laden(width, size int) []schemas.Task {
	tasks := fan(width)
	for i := range tasks {
		tasks[i].Context.Inputs = map[string]schemas.TaskInput{"note": {Result: schemas.Result{Text: strings.Repeat("x", size)}}}
	}
	return tasks
}

// bring publishes a request whose body may be a large one.
func (g *graphs) bring(number int, tasks []schemas.Task) {
	g.tb.Helper()
	id := schemas.EffectID("request", strconv.Itoa(number))
	body, err := schemas.Marshal(schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: id, From: "planner", To: "graph", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: g.now},
		Payload:  schemas.RequestPayload{PlanID: id, RequestID: id, Tasks: tasks},
	})
	g.must(err)
	event := schemas.Event{
		ID: id, Source: "/podium/planner", Type: schemas.TypeExecutionRequest, Time: g.now, Profile: "graph", PartitionKey: id,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	if len(body) > artifact.MessageInlineLimit {
		g.must(artifact.Offload(g.tb.Context(), g.ledger.Artifacts(), &event))
	}
	g.put(bus.InSubject("agent", 0), &event)
}

// bringing measures plans of tasks that bring something.
func (g *graphs) bringing(b *testing.B, tasks []schemas.Task) {
	b.Helper()
	runs := g.carryOut(b, tasks, g.bring)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(runs*len(tasks)), "µs/task")
}

// BenchmarkBrought is what it costs that the tasks of a plan bring results: per
// task it should not grow with their number.
func BenchmarkBrought(b *testing.B) {
	for _, width := range []int{100, 999} {
		for _, size := range []int{0, 1 << 10, 16 << 10} {
			b.Run(fmt.Sprintf("%d tasks of %d bytes", width, size), func(b *testing.B) {
				g := newGraphs(b)
				tasks := fan(width)
				if size > 0 {
					tasks = laden(width, size)
				}
				g.bringing(b, tasks)
			})
		}
	}
}

// BenchmarkBroughtChain is the same for tasks that follow one another, each in a record of its own.
func BenchmarkBroughtChain(b *testing.B) {
	for _, length := range []int{64, 256} {
		for _, size := range []int{0, 16 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%d tasks of %d bytes", length, size), func(b *testing.B) {
				g := newGraphs(b)
				tasks := make([]schemas.Task, length)
				for i := range tasks {
					tasks[i] = planTask(fmt.Sprintf("t%d", i))
					if i > 0 {
						tasks[i].Dependencies = []string{tasks[i-1].TaskID}
					}
					if size > 0 {
						tasks[i].Context.Inputs = map[string]schemas.TaskInput{"note": {Result: schemas.Result{Text: strings.Repeat("x", size)}}}
					}
				}
				g.bringing(b, tasks)
			})
		}
	}
}
