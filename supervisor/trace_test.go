package supervisor_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// TestTraceIsCarried: the trace parent of a message is on all that its run asks, on what
// agents say to that, through the tiers, to the delivery of the answer and to whoever asked.
// What waits behind another run keeps its own.
func TestTraceIsCarried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNest(t, 1, tier("desk", "branch"), tier("branch", "leaf"))
		n.employ("leaf", func(ctx context.Context, request *agent.Request, report agent.Report) (agent.Outcome, error) {
			report(50, "half way")
			time.Sleep(2 * time.Second)
			return say(ctx, request, report)
		})
		n.employ("chat", say)
		n.appoint("branch", "branch")
		n.declare("desk")
		n.receive(n.ledger, n.ledger.Worker("desk"), "desk")

		const (
			first  = "00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01"
			second = "00-0af7651916cd43dd8448eb211c80319c-0000000000000002-01"
			asked  = "00-0af7651916cd43dd8448eb211c80319c-0000000000000003-01"
		)
		for id, parent := range map[string]string{"m1": first, "m2": second} {
			body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "thread", MessageID: id, Text: "do " + id})
			n.must(err)
			n.put(bus.InSubject("chat", 0), &schemas.Event{
				ID: id, Source: "/desk", Type: schemas.TypeChatReceived, Time: midnight(), Profile: "desk", PartitionKey: "thread",
				TraceParent: parent, DataContentType: schemas.MediaTypeJSON, Data: body,
			})
		}
		_, request := n.demand("desk", "work", 1, taskFor("branch", "one"))
		request.TraceParent = asked
		n.put(bus.RequestSubject("desk"), &request)
		_, untraced := n.demand("desk", "other", 1, taskFor("branch", "one"))
		untraced.TraceParent = "of our own making"
		n.put(bus.RequestSubject("desk"), &untraced)
		time.Sleep(time.Minute)
		synctest.Wait()

		const requests, inputs, responses, updates, ends = "podium.agent.*.request", "podium.in.agent.0", "podium.agent.*.response.0", "podium.agent.*.progress.0", "podium.agent.*.response"
		seen := map[string]map[string]int{} // messages by trace and subject
		for _, subject := range []string{requests, inputs, responses, updates, ends} {
			for _, stream := range []string{bus.ShardStream(0), bus.WorkStream} {
				for _, event := range n.events(stream, subject) {
					if seen[event.TraceParent] == nil {
						seen[event.TraceParent] = map[string]int{}
					}
					seen[event.TraceParent][subject]++
				}
			}
		}
		for trace, want := range map[string]map[string]int{
			first:                {requests: 3, inputs: 1, responses: 3, updates: 2}, // branch, leaf, chat
			second:               {requests: 3, inputs: 1, responses: 3, updates: 2},
			asked:                {requests: 3, inputs: 2, responses: 2, updates: 2, ends: 1}, // desk, branch, leaf
			untraced.TraceParent: {requests: 1, inputs: 1},
			"":                   {requests: 2, inputs: 1, responses: 2, updates: 2, ends: 1},
		} {
			if !maps.Equal(seen[trace], want) {
				t.Errorf("with %q there are %v, want %v", trace, seen[trace], want)
			}
		}
		n.clean()
	})
}
