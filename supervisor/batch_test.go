package supervisor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/schemas"
	"podium/supervisor"
)

// newFan is a desk whose one run has asked the worker for many tasks at once, and
// joins their results in one more.
func newFan(tb testing.TB, width int) (d *desk, session string, o *supervisor.Owner) {
	tb.Helper()
	g := newGraphs(tb)
	g.request(1, fan(width))
	g.must(g.work(g.owner))
	if asked := len(g.requests("worker")); asked != width {
		tb.Fatalf("the worker was asked %d times, want %d", asked, width)
	}
	return g.desk, schemas.SessionID("graph", schemas.EffectID("request", "1")), g.owner
}

// recordsOf are the records of a session, oldest first.
func (d *desk) recordsOf(id string) (records []schemas.Record) {
	d.tb.Helper()
	for record, err := range history.LoadSession(context.Background(), d.ledger, id) {
		d.must(err)
		records = append(records, record.Record)
	}
	return records
}

// once fails unless every input of a session stands in exactly one transition, in
// the order of the stream, and returns how many there are.
func (d *desk) once(id string) (applied int) {
	d.tb.Helper()
	newest := uint64(0)
	for _, record := range d.recordsOf(id) {
		for i := range record.Transitions {
			transition := &record.Transitions[i]
			switch sequence := transition.Cause.Sequence; {
			case sequence == 0:
			case sequence <= newest:
				d.tb.Errorf("record %d takes input %d behind input %d", record.Number, sequence, newest)
			default:
				newest = sequence
				applied++
			}
		}
	}
	return applied
}

// joined lets the run of a fan end: the join is answered, nothing else is asked.
func (d *desk) joined(o *supervisor.Owner, id string, width int) {
	d.tb.Helper()
	d.must(d.work(o))
	asked := map[string]schemas.Event{}
	for _, request := range d.requests("worker") {
		asked[request.Subject] = request
	}
	if len(asked) != width+1 {
		d.tb.Fatalf("the worker was asked for %d tasks, want %d and the join", len(asked), width)
	}
	join := asked[schemas.RunID(id, 1)+"/join"]
	d.answer("worker", &join, "all of it")
	d.must(d.work(o))
	if applied := d.once(id); applied != width+2 {
		d.tb.Errorf("%d inputs are applied, want %d", applied, width+2)
	}
	if o.Busy() || o.OpenSessions() != 0 {
		d.tb.Errorf("busy %v, %d sessions open", o.Busy(), o.OpenSessions())
	}
	answers := d.events(bus.WorkStream, bus.ServiceSubject("graph", "response"))
	if len(answers) == 0 {
		d.tb.Fatal("nobody is told the result")
	}
	response, err := schemas.DecodeExecutionResponse(answers[0].Data)
	if err != nil || response.Payload.Status != schemas.StatusCompleted || response.Payload.ExecutionSummary.TasksCompleted != width+1 {
		d.tb.Errorf("%v: %s", err, answers[0].Data)
	}
	d.clean()
}

// TestAFanInSharesRecords: answers that wait together cost a few records and not
// one each, and only the last transition of a record sends anything.
func TestAFanInSharesRecords(t *testing.T) {
	t.Parallel()
	const width = 100
	d, id, o := newFan(t, width)
	for _, request := range d.requests("worker") {
		d.answer("worker", &request, "done")
	}
	d.joined(o, id, width)
	records := d.recordsOf(id)
	if len(records) > 10 {
		t.Errorf("%d records", len(records))
	}
	for _, record := range records {
		if transitions := len(record.Transitions); transitions > 64 {
			t.Errorf("record %d has %d transitions", record.Number, transitions)
		}
	}
}

// TestSharedRecordsAreBounded: a record takes as many answers as have room, and an
// answer that is too large for a message waits for its turn.
func TestSharedRecordsAreBounded(t *testing.T) {
	t.Parallel()
	const width = 60
	d, id, o := newFan(t, width)
	for i, request := range d.requests("worker") {
		size := 3 << 10
		if i%20 == 7 {
			size = artifact.MessageInlineLimit
		}
		d.answerWhole("worker", &request, strings.Repeat("x", size))
	}
	d.joined(o, id, width)
	records, shared := d.recordsOf(id), 0
	for _, record := range records {
		if len(record.Transitions) == 1 {
			continue
		}
		shared++
		record.Snapshot = nil
		if body, err := schemas.Marshal(record); err != nil || len(body) > 65<<10 {
			t.Errorf("record %d has %d bytes (%v)", record.Number, len(body), err)
		}
	}
	if shared < 3 || len(records) > 14 {
		t.Errorf("%d of %d records take several answers", shared, len(records))
	}
}

// answerWhole is answer for a text of any size.
func (d *desk) answerWhole(agent string, request *schemas.Event, text string) {
	d.tb.Helper()
	response := d.response(agent, request, text)
	body, err := schemas.Marshal(response)
	d.must(err)
	event := schemas.Event{
		ID: response.MessageID, Source: binding.SourceOf(agent), Type: schemas.TypeExecutionResponse, Subject: request.Subject, Time: d.now,
		CausationID: request.ID, CorrelationID: request.CorrelationID, Attempt: request.Attempt,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	d.must(artifact.Offload(d.tb.Context(), d.ledger.Artifacts(), &event))
	d.put(bus.ResponseSubject(agent, 0), &event)
}

// A slow ledger acknowledges the chosen messages when it is told to.
type slow struct {
	bus.Core
	chosen func(bus.Message) bool
	held   []func()
}

func (c *slow) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if c.chosen(message) {
		c.held = append(c.held, func() { c.Core.Publish(message, expect, done) })
		return
	}
	c.Core.Publish(message, expect, done)
}

func (c *slow) release() {
	held := c.held
	c.held = nil
	for _, publish := range held {
		publish()
	}
}

// TestWhatComesMeanwhileSharesARecord: while a record is being written inputs
// wait, and they cost one record together, whatever they are.
func TestWhatComesMeanwhileSharesARecord(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	id, _ := d.session("thread")
	core := &slow{Core: d.ledger, chosen: func(m bus.Message) bool { return m.Subject == bus.SessionSubject(id, 1) }}
	o := d.open("one", core, 0)
	first := d.say("thread", "m1", "do it")
	d.must(d.work(o))
	d.say("thread", "m2", "do it")
	d.say("thread", "m2", "do it") // a repeat, which changes nothing
	d.say("thread", "m3", "do it")
	last := d.say("thread", "m1", "do it")
	d.must(d.work(o))
	if o.Watermark() >= first {
		t.Fatalf("low watermark %d above an input whose record is not stored", o.Watermark())
	}
	core.release()
	d.must(d.work(o))
	if records := d.recordsOf(id); len(records) != 1 || o.Watermark() != first {
		t.Fatalf("%d records, low watermark %d", len(records), o.Watermark())
	}
	core.release()
	d.must(d.work(o))
	if records := d.recordsOf(id); len(records) != 2 || len(records[1].Transitions) != 2 || o.Watermark() != last {
		t.Errorf("%d records, low watermark %d of %d", len(records), o.Watermark(), last)
	}
	core.chosen = func(bus.Message) bool { return false }
	d.deliverAll(o, "worker", "chat")
	if folded := d.sessionHistory("thread"); len(folded.Runs) != 3 || len(folded.Messages) != 3 {
		t.Errorf("%d runs, %d messages", len(folded.Runs), len(folded.Messages))
	}
	d.clean()
}

// TestACrashBetweenSharedRecords: whatever becomes of the record of many answers
// and of its owner, each answer is applied once.
func TestACrashBetweenSharedRecords_X03(t *testing.T) {
	t.Parallel()
	const width = 70 // two records
	for name, test := range map[string]struct {
		record int // which one it happens to
		fate   fate
		stored bool // after all
		dies   bool
	}{
		"never stored, the owner dies":            {2, silent, false, true},
		"stored, the owner dies":                  {2, silent, true, true},
		"the second is never stored":              {3, silent, false, true},
		"the second is stored, the owner dies":    {3, silent, true, true},
		"refused for now":                         {2, refused, false, false},
		"stored, but the acknowledgment is lost":  {2, refused, true, false},
		"the second is refused for now":           {3, refused, false, false},
		"the second's acknowledgment is lost":     {3, refused, true, false},
		"what the second owes, the owner dies":    {0, silent, false, true},
		"what the second owes is refused for now": {0, refused, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, id, _ := newFan(t, width)
			happened := 0
			core := &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
				if happened > 0 {
					if test.dies {
						return silent
					}
					return stored
				}
				hit := test.record == 0 && message.Subject == bus.RequestSubject("worker") && strings.Contains(string(message.Body), `"task_id":"join"`)
				if message.Subject == bus.SessionSubject(id, 1) {
					hit = strings.Contains(string(message.Body), fmt.Sprintf(`"number":%d,`, test.record))
				}
				if !hit {
					return stored
				}
				happened++
				if test.stored {
					d.ledger.Publish(message, bus.Expect{}, func(bus.Ack, error) {})
				}
				return test.fate
			}}
			o := d.open("first", core, 0)
			for _, request := range d.requests("worker") {
				d.answer("worker", &request, "done")
			}
			d.spin(o, 3*time.Second)
			if happened != 1 {
				t.Fatal("nothing happened")
			}
			if test.dies {
				o = d.open("second", d.ledger, 0)
			}
			d.joined(o, id, width)
			if records := len(d.recordsOf(id)); records > 10 {
				t.Errorf("%d records", records)
			}
		})
	}
}

// TestTwoOwnersShareRecords: an owner that does not know that it is one no more
// cannot apply an answer twice, nor take one for applied.
func TestTwoOwnersShareRecords_X03(t *testing.T) {
	t.Parallel()
	const width = 20
	d, id, first := newFan(t, width)
	requests := d.requests("worker")
	for i := range requests[:10] {
		d.answer("worker", &requests[i], "done")
	}
	d.must(d.work(first))
	second := d.open("second", d.ledger, 0)
	for i := range requests[10:15] {
		d.answer("worker", &requests[10+i], "done")
	}
	d.must(d.work(first)) // it still can
	for i := range requests[15:] {
		d.answer("worker", &requests[15+i], "done")
	}
	d.joined(second, id, width)
}

// TestOneBadInputAmongMany: when a record of several inputs cannot be stored, each
// gets one of its own, and only what the ledger never takes is given up.
func TestOneBadInputAmongMany_X06(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"too large": bus.ErrTooLarge, "no event": schemas.ErrInvalidEvent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			id, _ := d.session("thread")
			o := d.open("one", &strict{Core: d.ledger, refuse: func(message bus.Message) error {
				if message.Subject == bus.SessionSubject(id, 1) && strings.Contains(string(message.Body), `"m3"`) {
					return fmt.Errorf("publish: %w", cause)
				}
				return nil
			}}, 0)
			var bad uint64
			for i := range 6 {
				sequence := d.say("thread", fmt.Sprint("m", i+1), "do it")
				if i == 2 {
					bad = sequence
				}
			}
			d.must(d.work(o))
			found := d.refusals()
			if len(found) != 1 || found[0].Sequence != bad || found[0].Reason != schemas.QuarantineMalformed || o.Busy() {
				t.Fatalf("%d in quarantine, busy %v", len(found), o.Busy())
			}
			d.deliverAll(o, "worker", "chat")
			if folded := d.sessionHistory("thread"); len(folded.Runs) != 5 {
				t.Errorf("%d runs", len(folded.Runs))
			}
			if applied := d.once(id); applied != 15 {
				t.Errorf("%d inputs are applied", applied)
			}
			d.clean()
		})
	}
}

// TestARefusedInputEndsARecord: what is refused gets into quarantine in its turn,
// before anything behind it is decided.
func TestARefusedInputEndsARecord_X06(t *testing.T) {
	t.Parallel()
	const width = 10
	d, id, o := newFan(t, width)
	requests := d.requests("worker")
	var wrong uint64
	for i := range requests {
		if i == 4 {
			wrong = d.answer("intruder", &requests[i], "mine")
		}
		d.answer("worker", &requests[i], "done")
	}
	d.must(d.work(o))
	found := d.refusals()
	if len(found) != 1 || found[0].Sequence != wrong || found[0].Reason != schemas.QuarantineWrongAgent {
		t.Fatalf("%d in quarantine", len(found))
	}
	records := d.recordsOf(id)
	if len(records) != 3 || len(records[1].Transitions) != 4 || len(records[2].Transitions) != 6 {
		t.Fatalf("%d records", len(records))
	}
	last, err := d.ledger.Last(t.Context(), "podium.dead."+string(schemas.QuarantineWrongAgent)+".0")
	d.must(err)
	record, err := d.ledger.Last(t.Context(), bus.SessionSubject(id, 1))
	d.must(err)
	if last.Sequence > record.Sequence {
		t.Error("what came behind it was decided first")
	}
	d.joined(o, id, width)
}
