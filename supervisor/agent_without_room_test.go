package supervisor_test

import (
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

// TestAnAgentWithoutRoomIsNotBarred: an agent that says it is well and has no room is
// asked by whoever comes next; one that fails is not.
func TestAnAgentWithoutRoomIsNotBarred_M28(t *testing.T) {
	t.Parallel()
	const sessions = 6
	for category, want := range map[schemas.FailureCategory]struct {
		state schemas.BreakerState
		asked int
	}{
		schemas.CategoryResource:  {schemas.BreakerClosed, sessions},
		schemas.CategoryExecution: {schemas.BreakerOpen, 3},
		"":                        {schemas.BreakerOpen, 3},
	} {
		t.Run(string(category), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			d.use(once)
			o := d.openAs("one", d.ledger, 0, breaking)
			for i := range sessions {
				thread := d.threadOf(0, i)
				d.say(thread, fmt.Sprint("m", i), "do it")
				d.must(d.work(o))
				if asked := d.requests("worker"); len(asked) == i+1 {
					d.refuseAs("worker", &asked[i], category)
				}
				d.must(d.work(o))
				d.now = d.now.Add(time.Second)
			}
			if state, asked := d.breaker("worker").State, len(d.requests("worker")); state != want.state || asked != want.asked {
				t.Errorf("asked %d times, the breaker is %s", asked, state)
			}
			d.clean()
		})
	}
}

// refuse has an agent fail a request, so that another attempt may help.
func (d *desk) refuse(agent string, request *schemas.Event) {
	d.tb.Helper()
	d.refuseAs(agent, request, "")
}

// refuseAs classifies the failure.
func (d *desk) refuseAs(agent string, request *schemas.Event, category schemas.FailureCategory) {
	d.tb.Helper()
	response := d.response(agent, request, "")
	response.Payload.Status, response.Payload.Result = schemas.StatusFailed, nil
	response.Payload.IssuesEncountered = []schemas.Issue{{
		IssueID: "1", TaskID: "t1", Agent: agent, Severity: "high", Description: "down", Resolution: schemas.ResolutionDeferred, Category: category,
	}}
	body, err := schemas.Marshal(response)
	d.must(err)
	shard, _ := schemas.ShardOfRequest(request.ID)
	d.put(bus.ResponseSubject(agent, shard), &schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf(agent), Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}
