package supervisor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/gateway"
)

// bare publishes a documented message as an agent does that knows nothing of
// CloudEvents and ignores replyto.
func (d *desk) bare(subject string, message any) {
	d.tb.Helper()
	body, ok := message.([]byte)
	if !ok {
		var err error
		body, err = schemas.Marshal(message)
		d.must(err)
	}
	_, err := bus.Append(context.Background(), d.ledger, bus.Message{Subject: subject, Body: body}, bus.Expect{})
	d.must(err)
}

// threadIn returns a thread whose session is in a shard.
func (d *desk) threadIn(shard int) string {
	for n := 0; ; n++ {
		thread := string(rune('a' + n))
		if _, in := d.session(thread); in == shard {
			return thread
		}
	}
}

// TestForwarder: a bare answer goes to the shard that its request names, progress
// too; what names none goes to shard 0, whose owner puts it into quarantine.
func TestForwarder_X06(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 3)
		thread := d.threadIn(2)
		two := d.open("two", d.ledger, 2)
		zero := d.open("zero", d.ledger, 0)
		d.say(thread, "m1", "do it")
		d.must(d.work(two))
		request := d.requests("worker")[0]
		progress := schemas.ProgressUpdate{
			Envelope: schemas.Envelope{
				MessageID: schemas.EffectID("progress", "1"), From: "worker", To: "supervisor",
				Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: d.now, InReplyTo: request.ID,
			},
			Payload: schemas.ProgressPayload{PlanID: schemas.PlanID(request.CorrelationID), ProgressPercentage: 50},
		}
		stranger := schemas.Event{ID: schemas.RequestID(77, 1, "another-ledger", "t1", 1)}
		d.bare("podium.agent.worker.progress", progress)
		d.bare("podium.agent.worker.response", d.response("worker", &request, "done"))
		d.bare("podium.agent.worker.response", d.response("worker", &stranger, "a shard that is not there"))
		d.bare("podium.agent.worker.response", []byte("garbage"))

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- (&gateway.Forwarder{Core: d.ledger, Log: zerolog.Nop()}).Run(ctx) }()
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		d.must(d.work(two))
		d.must(d.work(zero))
		task := d.sessionHistory(thread).Run(1).Tasks[0]
		if task.State != workflow.TaskCompleted || task.Result.Text != "done" || task.Started.IsZero() {
			t.Errorf("the task is %+v", task)
		}
		reasons := map[schemas.QuarantineReason]int{}
		for _, refused := range d.quarantined(0) {
			reasons[refused.Reason]++
		}
		if len(reasons) != 2 || reasons[schemas.QuarantineMalformed] != 1 || reasons[schemas.QuarantineUnknownRun] != 1 {
			t.Errorf("in quarantine: %v", reasons)
		}
		d.clean()
	})
}

// TestForwarderGoesOn: it remembers how far it came, and an answer that it moved
// twice changes nothing.
func TestForwarderGoesOn_X03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 1)
		o := d.open("one", d.ledger, 0)
		d.say("thread", "m1", "do it")
		d.must(d.work(o))
		request := d.requests("worker")[0]
		d.bare("podium.agent.worker.response", d.response("worker", &request, "done"))
		for range 3 {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- (&gateway.Forwarder{Core: d.ledger, Log: zerolog.Nop()}).Run(ctx) }()
			synctest.Wait()
			stop()
			d.must(<-ended)
		}
		d.must(d.work(o))
		run := d.sessionHistory("thread").Run(1)
		if run.Tasks[0].State != workflow.TaskCompleted || len(d.requests("chat")) != 1 || len(d.quarantined(0)) != 0 {
			t.Errorf("the task is %s, %d deliveries, quarantine %v", run.Tasks[0].State, len(d.requests("chat")), d.quarantined(0))
		}
		d.clean()
	})
}
