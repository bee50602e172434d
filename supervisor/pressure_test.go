package supervisor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// TestAStuckSessionHoldsNobodyUp: only what is under way counts as pending, not
// what is dealt with behind a session whose record the ledger does not take.
func TestAStuckSessionHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	bad, _ := d.session("bad")
	core, heal := refusing(d.ledger, func(m bus.Message) bool { return m.Subject == bus.SessionSubject(bad, 1) })
	o := d.openWith(core, func(c *supervisor.Config) { c.MaxPending = 16 })
	stuck := d.say("bad", "m", "do it")
	const healthy = 100
	last := uint64(0)
	for i := range healthy {
		last = d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it")
	}
	d.spin(o, 10*time.Second)
	if asked := distinct(d.requests("worker")); asked != healthy {
		t.Errorf("%d of %d healthy sessions went on", asked, healthy)
	}
	if o.Watermark() >= stuck {
		t.Errorf("low watermark %d above the input of the stuck session", o.Watermark())
	}
	heal()
	d.spin(o, 10*time.Second)
	if len(d.askedOf("bad")) != 1 || o.Watermark() < last || o.Busy() {
		t.Errorf("healed: %d requests, low watermark %d, busy %v", len(d.askedOf("bad")), o.Watermark(), o.Busy())
	}
	d.clean()
}

// bareAnswer publishes an answer to a request that nobody made.
func (d *desk) bareAnswer() {
	d.tb.Helper()
	nobody := schemas.Event{ID: schemas.RequestID(0, 1, schemas.RunID(uuid.NewString(), 1), "t1", 1)}
	body, err := schemas.Marshal(d.response("worker", &nobody, "done"))
	d.must(err)
	d.raw(bus.ResponseSubject("worker", 0), body)
}

// bareProgress publishes progress of a plan that nobody has.
func (d *desk) bareProgress() {
	d.tb.Helper()
	body, err := schemas.Marshal(schemas.ProgressUpdate{
		Envelope: schemas.Envelope{
			MessageID: uuid.NewString(), From: "worker", To: "supervisor", Type: schemas.EnvelopeTypeProgressUpdate, Timestamp: d.now,
		},
		Payload: schemas.ProgressPayload{PlanID: "p"},
	})
	d.must(err)
	d.raw(bus.ProgressSubject("worker", 0), body)
}

func (d *desk) raw(subject string, body []byte) {
	d.tb.Helper()
	_, err := bus.Append(d.tb.Context(), d.ledger, bus.Message{Subject: subject, Body: body}, bus.Expect{})
	d.must(err)
}

// TestOrphansDoNotStopTheReading: answers and progress that belong to nobody do
// not keep others from being read, whatever a session at the low watermark is stuck at.
func TestOrphansDoNotStopTheReading(t *testing.T) {
	t.Parallel()
	const orphans, healthy = 50, 20
	for name, test := range map[string]struct {
		record      bool // the record is refused; else the request that it owes
		orphan      func(*desk)
		quarantined int
	}{
		"answers behind a request that is not taken":  {false, (*desk).bareAnswer, orphans},
		"progress behind a request that is not taken": {false, (*desk).bareProgress, 0},
		"answers behind a record that is not taken":   {true, (*desk).bareAnswer, orphans},
		"progress behind a record that is not taken":  {true, (*desk).bareProgress, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			bad, _ := d.session("bad")
			core, heal := refusing(d.ledger, func(m bus.Message) bool {
				if test.record {
					return m.Subject == bus.SessionSubject(bad, 1)
				}
				return m.Subject == bus.RequestSubject("worker") && strings.Contains(string(m.Body), bad)
			})
			o := d.open("one", core, 0)
			d.say("bad", "m", "do it")
			for range orphans {
				test.orphan(d)
			}
			for i := range healthy {
				d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it")
			}
			d.spin(o, 5*time.Second)
			if asked := distinct(d.requests("worker")); asked != healthy {
				t.Errorf("%d of %d healthy sessions went on", asked, healthy)
			}
			found := d.refusals()
			for i := range found {
				if found[i].Reason != schemas.QuarantineUnknownRun {
					t.Errorf("in quarantine for %s: %s", found[i].Reason, found[i].Detail)
				}
			}
			if len(found) != test.quarantined {
				t.Errorf("%d in quarantine, want %d", len(found), test.quarantined)
			}
			heal()
			d.spin(o, 10*time.Second)
			if len(d.askedOf("bad")) != 1 || o.Busy() {
				t.Errorf("healed: %d requests, busy %v", len(d.askedOf("bad")), o.Busy())
			}
			d.clean()
		})
	}
}

// TestABareAnswerWaitsForItsSession: an answer that names its request and nothing
// else is not taken for an orphan while the session that asked is still unknown.
func TestABareAnswerWaitsForItsSession_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "do it") // no checkpoint names the session yet
	d.must(d.work(first))
	request := d.requests("worker")[0]
	body, err := schemas.Marshal(d.response("worker", &request, "done"))
	d.must(err)
	d.raw(bus.ResponseSubject("worker", 0), body)
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	if state := d.sessionHistory("thread").Run(1).Tasks[0].State; state != workflow.TaskCompleted {
		t.Errorf("the task is %s", state)
	}
	if found := d.refusals(); len(found) > 0 {
		t.Errorf("in quarantine: %s", found[0].Detail)
	}
	d.clean()
}

// TestBodiesUnderWayAreBounded: with any budget of a shard, one body of a message is brought into memory at a time, and
// each gets its turn.
func TestBodiesUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	const bodies = 8
	for name, test := range map[string]struct {
		budget int64 // in bodies; 0 is one byte
		lie    bool  // the second message claims an absurd size
	}{
		"a budget for none":          {0, false},
		"a budget for two":           {2, false},
		"a budget for all":           {bodies, false},
		"a claim of absurd size":     {2, true},
		"a claim, a budget for none": {0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			var weight int64
			for i := range bodies {
				event := d.sayByReference(fmt.Sprint("thread", i), fmt.Sprint("m", i))
				weight = event.Artifact.Size
				if test.lie && i == 0 {
					event.ID, event.PartitionKey, event.Artifact.Size = "lie", "lie", math.MaxInt64
					d.put(bus.InSubject("chat", 0), event)
				}
			}
			var operations []func()
			seen := &shelf{Core: d.ledger, fetched: map[string]int{}}
			o := d.openWith(seen, func(c *supervisor.Config) {
				c.MaxBytes = max(test.budget*weight, 1)
				c.Go = func(operation func()) { operations = append(operations, operation) }
			})
			most := 0
			for d.must(d.work(o)); len(operations) > 0; d.must(d.work(o)) {
				under := operations
				operations = nil
				clear(seen.fetched)
				for _, operation := range under {
					operation()
				}
				fetched := 0
				for _, times := range seen.fetched {
					fetched += times
				}
				most = max(most, fetched)
			}
			if most > 2 { // one is read, and the one before is brought again for the request to its agent
				t.Errorf("%d bodies under way at once", most)
			}
			if asked := distinct(d.requests("worker")); asked != bodies || o.Busy() {
				t.Errorf("%d of %d bodies had their turn, busy %v", asked, bodies, o.Busy())
			}
			if found := d.refusals(); test.lie != (len(found) == 1) {
				t.Errorf("in quarantine: %d", len(found))
			}
		})
	}
}

// TestLongMessagesAreQuarantinedWhole: a message that waits to be read beside the loop, and whose body is not in memory, goes into
// quarantine with its body when it names no profile.
func TestLongMessagesAreQuarantinedWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	body, err := schemas.Marshal(schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "long", MessageID: "m1", Text: strings.Repeat("a long text ", 2000)})
	d.must(err)
	d.put(bus.InSubject("chat", 0), &schemas.Event{
		ID: "m1", Source: "/desk", Type: schemas.TypeChatReceived, Time: d.now, Profile: "gone", PartitionKey: "long",
		DataContentType: schemas.MediaTypeJSON, Data: body,
	})
	d.must(d.work(o))
	if found := d.refusals(); len(found) != 1 || found[0].Reason != schemas.QuarantineUnroutable || string(found[0].Body) != string(body) {
		t.Errorf("%d in quarantine", len(found))
	}
}
