package supervisor_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
)

// deepPlan puts a plan of one task for the worker on shard 0, with arguments of a depth.
func (d *desk) deepPlan(name, key string, depth int) string {
	d.tb.Helper()
	arguments := `{}`
	if depth > 0 {
		arguments = `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	id := schemas.EffectID("work", name)
	body := fmt.Appendf(nil, `{"message_id":"%s","from":"planner","to":"boss","type":"execution_request","timestamp":"2026-01-01T00:00:00Z",
	"payload":{"plan_id":"%s","request_id":"r","tasks":[{"task_id":"t1","description":"do","assigned_to":"worker","context":{"arguments":%s}}]}}`,
		id, schemas.EffectID("work", name+"plan"), arguments)
	d.put(bus.InSubject("agent", 0), &schemas.Event{
		ID: id, Source: "/podium/planner", Type: schemas.TypeExecutionRequest, Time: d.now,
		Profile: "desk", PartitionKey: key, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	return id
}

// A plan that waits for its turn and cannot be put on record then must cost neither
// the answer that ends the run before it nor the shard.
func TestADeepPlanInAQueueCostsNobodyElse(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.deepPlan("first", "key", 0)
	d.deepPlan("second", "key", 9995)
	d.must(d.work(o))
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	for _, refused := range d.refusals() {
		t.Errorf("in quarantine: %s: %s", refused.Subject, refused.Detail[:80])
	}
	if run := d.sessionHistory("key").Run(1); run.Status != schemas.RunCompleted {
		t.Errorf("the first run, whose agent has answered, is %s %s", run.Phase, run.Status)
	}
	for range 300 {
		d.now = d.now.Add(time.Second)
		if err := d.work(o); err != nil {
			t.Fatalf("the shard is halted: %.120s", err.Error())
		}
	}
}

// A plan that is nested so deep that a later record could not hold it is refused at
// once, and its shard goes on, as does whoever takes the shard over.
func TestADeepPlanIsRefused(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{schemas.MaxDepth + 1, 9985, 9994, 9995} {
		t.Run(strconv.Itoa(depth), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			id := d.deepPlan("deep", "deep", depth)
			d.must(d.work(o))
			if n := len(d.requests("worker")); n > 0 {
				t.Fatalf("%d requests carry it on", n)
			}
			answers := d.events(bus.WorkStream, bus.ServiceSubject("boss", "response"))
			if len(answers) != 1 || answers[0].CausationID != id || !strings.Contains(string(answers[0].Data), "nested deeper") {
				t.Errorf("whoever asked hears %d answers: %+v", len(answers), answers)
			}
			o = d.open("two", d.ledger, 0)
			d.say("other", "m1", "do it")
			d.must(d.work(o))
			if len(d.askedOf("other")) != 1 {
				t.Error("the shard does not go on")
			}
		})
	}
}
