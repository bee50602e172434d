package supervisor_test

import (
	"fmt"
	"testing"

	"podium/bus"
	"podium/schemas"
)

// What a supervisor answers keeps to its schema, whatever its agents have said within theirs.
func TestAnswersKeepTheirSchema(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	id := schemas.EffectID("work", "tokens")
	body := fmt.Appendf(nil, `{"message_id":"%s","from":"planner","to":"boss","type":"execution_request","timestamp":"2026-01-01T00:00:00Z",
	"payload":{"plan_id":"%s","request_id":"r","tasks":[{"task_id":"t1","description":"do","assigned_to":"worker"},{"task_id":"t2","description":"do","assigned_to":"worker"}]}}`, id, id)
	d.put(bus.InSubject("agent", 0), &schemas.Event{
		ID: id, Source: "/podium/planner", Type: schemas.TypeExecutionRequest, Time: d.now, Profile: "desk", PartitionKey: "key",
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	d.must(d.work(o))
	for _, request := range d.requests("worker") {
		response := d.response("worker", &request, "done")
		response.Payload.ResourceUsage = &schemas.ResourceUsage{TokensUsed: new(9_007_199_254_740_991)}
		data, err := schemas.Marshal(response)
		d.must(err)
		d.must(schemas.Validate(schemas.EnvelopeTypeExecutionResponse, data))
		d.put(bus.ResponseSubject("worker", 0), &schemas.Event{
			ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse,
			Subject: request.Subject, CausationID: request.ID, Attempt: 1, Time: d.now, DataContentType: schemas.MediaTypeJSON, Data: data,
		})
	}
	d.must(d.work(o))
	answers := d.events(bus.WorkStream, bus.ServiceSubject("boss", "response"))
	if len(answers) != 1 {
		t.Fatalf("%d answers", len(answers))
	}
	if err := schemas.Validate(schemas.EnvelopeTypeExecutionResponse, answers[0].Data); err != nil {
		t.Errorf("the answer is refused by whoever gets it: %v", err)
	}
}
