package supervisor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
	"podium/supervisor/gateway"
)

// asks opens an owner and has it ask the worker.
func (d *desk) asks() (o *supervisor.Owner, request *schemas.Event) {
	d.tb.Helper()
	o = d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	return o, d.last("worker")
}

// spoil publishes a message as an answer of an agent.
func (d *desk) spoil(agent string, header bus.Header, body string) (id string) {
	d.tb.Helper()
	ack, err := bus.Append(d.tb.Context(), d.ledger, bus.Message{Subject: bus.ResponseSubject(agent, 0), Header: header, Body: []byte(body)}, bus.Expect{})
	d.must(err)
	return fmt.Sprintf("%s:%d", ack.Stream, ack.Sequence)
}

// text is a message as it stands in a body.
func (d *desk) text(message any) string {
	d.tb.Helper()
	body, err := schemas.Marshal(message)
	d.must(err)
	return string(body)
}

func (d *desk) firstTask() *workflow.Task {
	d.tb.Helper()
	return d.sessionHistory("thread").Run(1).Tasks[0]
}

// TestMalformedAnswerEndsItsAttempt: an answer that nobody can read, but that names its
// request in any way, ends the attempt at once, with its id in quarantine.
func TestMalformedAnswerEndsItsAttempt_X06(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(d *desk, request *schemas.Event) string{
		"a body that breaks the schema": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", nil, fmt.Sprintf(`{"message_id":"m","from":"worker","type":"execution_response","timestamp":"2026-01-01T00:00:00Z","in_reply_to":%q,"STATUS":1}`, request.ID))
		},
		"a body that is cut off": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", nil, fmt.Sprintf(`{"message_id":"m","in_reply_to":%q,"payload":{"te`, request.ID))
		},
		"attributes alone": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", bus.Header{"ce-specversion": {"9"}, "ce-causationid": {request.ID}}, "garbage")
		},
		"run, task and attempt": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", bus.Header{"ce-subject": {request.Subject}, "ce-attempt": {"1"}}, "garbage")
		},
		"an encrypted body": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", bus.Header{
				"ce-specversion": {"1.0"}, "ce-id": {"x"}, "ce-source": {"/x"}, "ce-type": {schemas.TypeExecutionResponse},
				"ce-causationid": {request.ID}, "ce-keyid": {"k"},
			}, d.text(d.response("worker", request, "done")))
		},
		"another type of event": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", bus.Header{
				"ce-specversion": {"1.0"}, "ce-id": {"x"}, "ce-source": {"/x"}, "ce-type": {schemas.TypeControl}, "ce-causationid": {request.ID},
			}, "{}")
		},
		"a body by reference": func(d *desk, request *schemas.Event) string {
			event := d.dataEvent(request, `"`+strings.Repeat("x", 2*artifact.MessageInlineLimit)+`"`)
			event.Data = []byte(strings.Replace(string(event.Data), `"status":"completed"`, `"status":"splendid"`, 1))
			d.must(artifact.Offload(t.Context(), d.ledger.Artifacts(), event))
			return fmt.Sprintf("%s:%d", bus.ShardStream(0), d.put(bus.ResponseSubject("worker", 0), event))
		},
		"a reference to nothing": func(d *desk, request *schemas.Event) string {
			return d.spoil("worker", bus.Header{
				"ce-specversion": {"1.0"}, "ce-id": {"x"}, "ce-source": {"/x"}, "ce-type": {schemas.TypeExecutionResponse},
				"ce-causationid": {request.ID}, "ce-dataref": {"podium-artifact:" + strings.Repeat("0", 64)},
				"ce-datagrant": {d.grants().Put("worker", strings.Repeat("0", 64))},
			}, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o, request := d.asks()
			id := spoil(d, request)
			d.must(d.work(o))
			found := d.quarantined(0)
			task := d.firstTask()
			if len(found) != 1 || task.Failure().Cause != schemas.FailureMalformed || task.Failure().Quarantine != id || task.Failure().Detail != found[0].Detail {
				t.Fatalf("attempt %d failed by %q (%q), in quarantine %q, want %q with %+v", task.Attempt, task.Failure().Cause, task.Failure().Detail, task.Failure().Quarantine, id, found)
			}
			second := d.open("two", d.ledger, 0)
			d.must(d.work(second))
			if again := d.facts("thread", func(f schemas.Fact) bool { return schemas.As[*schemas.TaskFailed](f) != nil }); again != 1 {
				t.Errorf("after a takeover it failed %d times", again)
			}
			d.spin(second, 2*time.Second)
			if task := d.firstTask(); task.Attempt != 2 {
				t.Fatalf("attempt %d", task.Attempt)
			}
			d.answerNewest("worker", "done")
			d.must(d.work(second))
			if task := d.firstTask(); task.State != workflow.TaskCompleted {
				t.Errorf("the task is %s", task.State)
			}
			d.clean()
		})
	}
}

// TestMalformedAnswersOfOthersChangeNothing: whose answer it is, is decided by the
// subject; and one to an attempt that is over ends no other.
func TestMalformedAnswersOfOthersChangeNothing_X06_G40(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o, request := d.asks()
	named := fmt.Sprintf(`{"in_reply_to":%q}`, request.ID)
	d.spoil("stranger", nil, named)
	d.spoil("worker", nil, `{"in_reply_to":"00000000-0000-8000-8000-000000000000"}`)
	d.spoil("worker", nil, "garbage that names nobody")
	d.must(d.work(o))
	if task := d.firstTask(); task.State != workflow.TaskDispatched || len(d.quarantined(0)) != 3 {
		t.Fatalf("the task is %s, %d in quarantine", task.State, len(d.quarantined(0)))
	}
	d.spoil("worker", nil, named)
	d.must(d.work(o))
	d.spin(o, 2*time.Second)
	d.spoil("worker", nil, named) // to the first attempt, while the second is under way
	d.must(d.work(o))
	if task := d.firstTask(); task.State != workflow.TaskDispatched || task.Attempt != 2 {
		t.Errorf("attempt %d is %s", task.Attempt, task.State)
	}
	for _, refused := range d.quarantined(0) {
		if refused.Reason != schemas.QuarantineMalformed {
			t.Errorf("in quarantine as %s", refused.Reason)
		}
	}
	d.clean()
}

// TestMalformedBareAnswersReachTheirShard: one that ignores replyto ends its attempt
// in whatever shard that is.
func TestMalformedBareAnswersReachTheirShard_X06(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 3)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- (&gateway.Forwarder{Core: d.ledger, Log: zerolog.Nop()}).Run(ctx) }()
		for shard := range 3 {
			o := d.open("one", d.ledger, shard)
			thread := d.threadIn(shard)
			d.say(thread, "m"+thread, "do it")
			d.must(d.work(o))
			d.raw("podium.agent.worker.response", fmt.Appendf(nil, `{"in_reply_to":%q,"payload":`, d.last("worker").ID))
			synctest.Wait()
			d.must(d.work(o))
			if task := d.sessionHistory(thread).Run(1).Tasks[0]; task.Failure().Cause != schemas.FailureMalformed {
				t.Errorf("shard %d: the task is %s, %q", shard, task.State, task.Failure().Cause)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d.clean()
	})
}
