package supervisor_test

import (
	"context"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/schemas/workflow"
)

// Every request that can be read ends in exactly one response (promises 16 and 22 of
// package bus), also when the result is as large as an agent may give one.
func TestALargeResultIsAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	id := d.deepPlan("first", "key", 0)
	d.must(d.work(o))
	request := d.requests("worker")[0]
	response := d.response("worker", &request, "")
	response.Payload.Result = &schemas.Result{Data: []byte(`"DATA"`)}
	body, err := schemas.Marshal(response)
	d.must(err)
	text := strings.Replace(string(body), "DATA", strings.Repeat("x", artifact.MaxSize-len(body)+4), 1)
	event := schemas.Event{
		ID: response.MessageID, Source: "/podium/worker", Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, Attempt: 1, DataContentType: schemas.MediaTypeJSON, Data: []byte(text),
	}
	d.must(artifact.Offload(context.Background(), d.ledger.Artifacts(), &event)) // the agent may say so much
	d.put(bus.ResponseSubject("worker", 0), &event)
	d.must(d.work(o))
	run := d.sessionHistory("key").Run(1)
	if run.Status != schemas.RunCompleted || run.Phase != workflow.PhaseComplete {
		t.Fatalf("the run is %s %s, %d in quarantine", run.Phase, run.Status, len(d.refusals()))
	}
	answers := d.events(bus.WorkStream, bus.ServiceSubject("boss", "response"))
	if len(answers) != 1 || answers[0].CausationID != id {
		t.Errorf("the run is %s, and whoever asked got %d responses", run.Status, len(answers))
	}
}
