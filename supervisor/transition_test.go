package supervisor_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the machine may have none

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/schemas/workflow"
)

// TestOneRun: a message becomes a request, its answer a delivery, and the low watermark
// ends above all of it.
func TestOneRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	requests := d.requests("worker")
	if len(requests) != 1 || requests[0].ReplyTo != bus.ResponseSubject("worker", 0) {
		t.Fatalf("requests %+v", requests)
	}
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	d.answerNewest("chat", "")
	d.must(d.work(o))
	run := d.sessionHistory("thread").Runs[0]
	if run.Phase != workflow.PhaseComplete || run.Status != schemas.RunCompleted {
		t.Errorf("the run is %s, %s", run.Phase, run.Status)
	}
	if o.Busy() || o.OpenSessions() != 0 || o.Watermark() == 0 {
		t.Errorf("busy %v, %d open, low watermark %d", o.Busy(), o.OpenSessions(), o.Watermark())
	}
	d.clean()
}

// TestTakeoverEmitsWhatIsOwed: a record whose outputs never went out owes them,
// and whoever takes the shard over pays, under the same id, once.
func TestTakeoverEmitsWhatIsOwed_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if strings.HasSuffix(message.Subject, ".request") {
			return silent
		}
		return stored
	}}, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(first))
	folded := d.sessionHistory("thread")
	if len(folded.Runs) != 1 || len(d.requests("worker")) != 0 || first.Watermark() != 0 || !first.Busy() {
		t.Fatalf("%d runs, %d requests, low watermark %d", len(folded.Runs), len(d.requests("worker")), first.Watermark())
	}
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	requests := d.requests("worker")
	if len(requests) != 1 || requests[0].ID != schemas.RequestID(0, 1, folded.Runs[0].ID, "t1", 1) {
		t.Fatalf("requests %+v", requests)
	}
	third := d.open("third", d.ledger, 0)
	d.must(d.work(third))
	for _, request := range d.requests("worker") {
		if request.ID != requests[0].ID {
			t.Errorf("another request, %s", request.ID)
		}
	}
	if len(d.sessionHistory("thread").Messages) != 1 {
		t.Error("the message was taken twice")
	}
	d.clean()
}

// TestDeadlineWakesTheOwner: Next says when, and Tick does it then.
func TestDeadlineWakesTheOwner(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	for d.sessionHistory("thread").Run(1).Tasks[0].Failure().Cause == "" {
		next, ok := o.Next()
		if !ok || next.After(midnight().Add(time.Minute)) {
			t.Fatalf("it sleeps until %s", next)
		}
		d.now = next
		d.must(d.work(o))
	}
	if !d.now.Equal(midnight().Add(time.Minute)) {
		t.Errorf("it failed at %s", d.now)
	}
	d.now = d.now.Add(time.Second)
	d.must(d.work(o))
	if requests := d.requests("worker"); len(requests) != 2 || requests[1].Attempt != 2 {
		t.Errorf("%d requests", len(requests))
	}
	d.clean()
}

// TestLargeRecord: a record whose snapshot is too large for a message goes to
// the object store, and is loaded from there.
func TestLargeRecord(t *testing.T) {
	t.Parallel()
	const width, at = 160, 140
	d, id, _ := newFan(t, width)
	text := strings.Repeat("0123456789", schemas.RecordInlineLimit/10)
	requests := d.requests("worker")
	for i := range requests[:at] {
		d.answer("worker", &requests[i], text)
	}
	d.must(d.work(d.open("first", d.ledger, 0)))
	outside := 0
	for _, event := range d.events(bus.ShardStream(0), bus.SessionSubject(id, 1)) {
		if event.Artifact != nil {
			outside++
		}
	}
	if outside == 0 {
		t.Fatal("no record went to the object store")
	}
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	for i := range requests[at:] {
		d.answer("worker", &requests[at+i], text)
		d.must(d.work(second))
	}
	d.joined(second, id, width)
}

// TestLargeBodiesTravelWhole: words and results over the limits reach the agent
// and the person unchanged.
func TestLargeBodiesTravelWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	words, result := strings.Repeat("words ", 10_000), strings.Repeat("result ", 20_000)
	d.say("thread", "m1", words)
	d.must(d.work(o))
	asked := d.requests("worker")[0]
	d.must(artifact.Resolve(t.Context(), d.ledger.Artifacts(), &asked))
	request, err := schemas.DecodeExecutionRequest(asked.Data)
	d.must(err)
	if request.Payload.Tasks[0].Context.Request != strings.TrimSpace(words) {
		t.Error("the words did not arrive whole")
	}
	d.answerNewest("worker", result)
	d.must(d.work(o))
	owed := d.requests("chat")[0]
	d.must(artifact.Resolve(t.Context(), d.ledger.Artifacts(), &owed))
	if !bytes.Contains(owed.Data, []byte(strings.TrimSpace(result))) {
		t.Error("the result did not arrive whole")
	}
	d.clean()
}

// TestNothingSkippedBeforeQuarantine: an input that belongs into quarantine gets
// there even if its owner dies after having decided what came behind it.
func TestNothingSkippedBeforeQuarantine_X06(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if strings.HasPrefix(message.Subject, "podium.dead.") {
			return refused
		}
		return stored
	}}, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(first))
	request := d.requests("worker")[0]
	wrong := d.answer("intruder", &request, "mine")
	d.answer("worker", &request, "done")
	d.must(d.work(first))
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	found := d.quarantined(0)
	if len(found) != 1 || found[0].Sequence != wrong || found[0].Reason != schemas.QuarantineWrongAgent {
		t.Errorf("in quarantine: %+v", found)
	}
	if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state != workflow.TaskCompleted {
		t.Errorf("the task is %s", state)
	}
	d.clean()
}

// TestAnyBytesCanBeQuarantined: whatever headers and body a message has, it ends
// in quarantine and the shard goes on.
func TestAnyBytesCanBeQuarantined_X06(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]bus.Message{
		"a header value":        {Header: bus.Header{"ce-id": {"\xff\xfe"}, "ce-specversion": {"1.0"}}, Body: []byte("{}")},
		"a header name":         {Header: bus.Header{"ce-\xff": {"x"}}, Body: []byte("{}")},
		"two names, once alike": {Header: bus.Header{"ce-\xff": {"x"}, "ce-\xfe": {"y"}}, Body: []byte("{}")},
		"the body":              {Body: []byte("\xff\x00")},
		"no body":               {},
		"words in a field": {
			Header: bus.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/x"}, "ce-type": {"podium.execution_response.v1"}},
			Body:   []byte("{\"in_reply_to\":\"\xff\"}"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", d.ledger, 0)
			message.Subject = bus.ResponseSubject("worker", 0)
			_, err := bus.Append(t.Context(), d.ledger, message, bus.Expect{})
			d.must(err)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			found := d.quarantined(0)
			if len(found) != 1 || !bytes.Equal(found[0].Body, message.Body) {
				t.Errorf("in quarantine: %+v", found)
			}
			if len(d.requests("worker")) != 1 {
				t.Error("the shard did not go on")
			}
			d.clean()
		})
	}
}

// TestSummerTime: a record says the same wherever and whenever it is decided
// again, also when its owner's clock changes to summer time on the way.
func TestSummerTime_X07(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, 1)
	d.now = time.Date(2026, 3, 29, 1, 59, 30, 0, berlin)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	d.clean()
}
