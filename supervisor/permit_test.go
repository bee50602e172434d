package supervisor_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

// question publishes an agent's question for a permit and returns its id.
func (d *desk) question(agent string, request *schemas.Event) string {
	d.tb.Helper()
	id := uuid.NewString()
	d.questionAgain(agent, request, id)
	return id
}

func (d *desk) questionAgain(agentName string, request *schemas.Event, id string) {
	d.tb.Helper()
	message, asked, err := agent.PermitRequest(agentName, request, id, "", d.now)
	d.must(err)
	if !asked {
		d.tb.Fatal("there is nobody to ask")
	}
	_, err = bus.Append(context.Background(), d.ledger, message, bus.Expect{})
	d.must(err)
}

// revoke publishes a person's word that a thread's first run is to be cancelled.
func (d *desk) revoke(thread, id string) {
	d.tb.Helper()
	session, shard := d.session(thread)
	body, err := schemas.Marshal(schemas.Control{Action: schemas.ControlCancel, Run: schemas.RunID(session, 1), By: "test"})
	d.must(err)
	d.put(bus.ControlSubject(shard), &schemas.Event{
		ID: id, Source: "/desk", Type: schemas.TypeControl, Time: d.now, DataContentType: schemas.MediaTypeJSON, Data: body,
	})
}

// hear returns the answers that a process of an agent has heard by now.
func hear(worker bus.Worker) (heard []schemas.PermitAnswer) {
	for {
		select {
		case answer := <-worker.Permitted():
			heard = append(heard, answer)
		default:
			return heard
		}
	}
}

func (d *desk) mustHear(worker bus.Worker, want ...schemas.PermitAnswer) {
	d.tb.Helper()
	heard := hear(worker)
	if len(heard) != len(want) {
		d.tb.Fatalf("%s hears %+v, want %+v", worker.Name(), heard, want)
	}
	for i := range want {
		if heard[i] != want[i] {
			d.tb.Errorf("%s hears %+v, want %+v", worker.Name(), heard[i], want[i])
		}
	}
}

func granted(id string) schemas.PermitAnswer { return schemas.PermitAnswer{Permit: id, Granted: true} }

func refusedAs(id string, reason schemas.PermitReason) schemas.PermitAnswer {
	return schemas.PermitAnswer{Permit: id, Reason: reason}
}

// facts counts the facts of a thread that a test looks for.
func (d *desk) facts(thread string, wanted func(schemas.Fact) bool) (found int) {
	d.tb.Helper()
	for _, record := range d.records(thread) {
		for fact := range record.AllFacts() {
			if wanted(fact) {
				found++
			}
		}
	}
	return found
}

func permits(f schemas.Fact) bool { return schemas.As[*schemas.PermitGranted](f) != nil }

// TestPermitIsGrantedOnce: the first question is granted, on record; the same one
// gets the same answer, without a record; one of another process, while nobody
// knows what the first did, is granted again, and the record says so.
func TestPermitIsGrantedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	_, shard := d.session("thread")
	o := d.open("one", d.ledger, shard)
	worker := d.ledger.Worker("worker")
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	request := d.last("worker")
	if request.Permit != "" {
		t.Errorf("work brings permit %s", request.Permit)
	}
	first := d.question("worker", request)
	d.must(d.work(o))
	d.mustHear(worker, granted(first))
	d.questionAgain("worker", request, first)
	d.must(d.work(o))
	d.mustHear(worker, granted(first))
	if n := d.facts("thread", permits); n != 1 {
		t.Fatalf("%d permits are on record", n)
	}
	second := d.question("worker", request)
	d.questionAgain("worker", request, first)
	d.must(d.work(o))
	d.mustHear(worker, granted(second), refusedAs(first, schemas.PermitGone))
	if n := d.facts("thread", func(f schemas.Fact) bool { return permits(f) && schemas.As[*schemas.PermitGranted](f).Again }); n != 1 {
		t.Errorf("%d permits are granted again", n)
	}
	d.deliverAll(o, "worker", "chat")
	if run := d.sessionHistory("thread").Run(1); run.Status != schemas.RunCompleted || run.Tasks[0].Permit != second {
		t.Errorf("the run is %s, its permit %s", run.Status, run.Tasks[0].Permit)
	}
	d.clean()
}

// TestPermitBehindACancel: once a cancel is on record nothing is permitted, before
// the run has ended and after it, and whoever was permitted and has not heard of it
// is not either.
func TestPermitBehindACancel(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	worker := d.ledger.Worker("worker")
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	request := d.last("worker")
	before := d.question("worker", request)
	d.must(d.work(o))
	hear(worker) // and it is lost
	d.revoke("thread", "x1")
	after := d.question("worker", request)
	d.questionAgain("worker", request, before)
	d.must(d.work(o))
	d.mustHear(worker, refusedAs(after, schemas.PermitCancelled), refusedAs(before, schemas.PermitCancelled))
	d.deliverAll(o, "chat")
	late := d.question("worker", request)
	d.must(d.work(o))
	d.mustHear(worker, refusedAs(late, schemas.PermitStale))
	run := d.sessionHistory("thread").Run(1)
	if run.Status != schemas.RunCancelled || len(run.PermitsRefused) != 2 || run.PermitsRefused[0].Agent != "worker" {
		t.Errorf("the run is %s, permits refused: %+v", run.Status, run.PermitsRefused)
	}
	d.clean()
}

// TestPermitSurvivesACrash: the owner dies between the record of a permit and the
// answer, or the agent between the answer and the act; the answer follows from the
// record, whoever gives it.
func TestPermitSurvivesACrash(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	mute := &muted{Core: d.ledger, mute: true}
	first := d.open("first", mute, 0)
	worker := d.ledger.Worker("worker")
	d.say("thread", "m1", "do it")
	d.must(d.work(first))
	request := d.last("worker")
	id := d.question("worker", request)
	d.must(d.work(first))
	if n := d.facts("thread", permits); n != 1 || len(hear(worker)) != 0 {
		t.Fatalf("%d permits are on record", n)
	}
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	d.mustHear(worker, granted(id)) // what the last record owes
	d.questionAgain("worker", request, id)
	d.must(d.work(second))
	d.mustHear(worker, granted(id))
	d.deliverAll(second, "worker", "chat")
	if n := d.facts("thread", permits); n != 1 {
		t.Errorf("%d permits are on record", n)
	}
	d.clean()
}

// muted is a view of the ledger whose signals reach nobody.
type muted struct {
	bus.Core
	mute bool
}

func (m *muted) Signal(subject string, body []byte) error {
	if m.mute {
		return nil
	}
	return m.Core.Signal(subject, body)
}

// TestOneCopyBringsThePermit: the request that delivers an answer brings its permit
// along in the first copy that its owner publishes, which says that it is the first, and
// in no other.
func TestOneCopyBringsThePermit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*desk) bus.Core{
		"published once": func(d *desk) bus.Core { return d.ledger },
		"the acknowledgment is lost": func(d *desk) bus.Core {
			return &doubtful{Core: d.ledger, subject: bus.RequestSubject("chat"), tries: 2}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, 1)
			o := d.open("one", test(d), 0)
			d.say("thread", "m1", "do it")
			d.must(d.work(o))
			d.answerNewest("worker", "done")
			d.spin(o, 10*time.Second)
			copies := d.requests("chat")
			for i := range copies {
				want, first := "", ""
				if i == 0 {
					want, first = schemas.PermitID(copies[0].ID), d.ledger.Server()
				}
				if copies[i].Permit != want || copies[i].First != first || copies[i].ID != copies[0].ID {
					t.Errorf("copy %d of %d brings permit %q, first for %q, want %q and %q", i+1, len(copies), copies[i].Permit, copies[i].First, want, first)
				}
			}
			if len(copies) == 0 || (name == "published once") != (len(copies) == 1) {
				t.Errorf("%d copies", len(copies))
			}
			run := d.sessionHistory("thread").Run(1)
			if run.Delivery.Permit != schemas.PermitID(copies[0].ID) {
				t.Errorf("permit %q is on record", run.Delivery.Permit)
			}
			d.clean()
		})
	}
}

// doubtful is a view of the ledger that takes messages of a subject and does not say so.
type doubtful struct {
	bus.Core
	subject string
	tries   int
}

func (c *doubtful) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if message.Subject != c.subject || c.tries == 0 {
		c.Core.Publish(message, expect, done)
		return
	}
	c.tries--
	c.Core.Publish(message, expect, func(bus.Ack, error) {
		done(bus.Ack{}, &bus.TemporaryError{Op: "publish", Err: context.DeadlineExceeded})
	})
}

// nameless is a ledger of which nobody can tell whether a delivery is the first.
type nameless struct{ bus.Core }

func (nameless) Server() string { return "" }

// TestNothingComesAlongWhereNobodyCanBelieveIt: who is handed the delivery asks.
func TestNothingComesAlongWhereNobodyCanBelieveIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", nameless{d.ledger}, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	d.answerNewest("worker", "done")
	d.must(d.work(o))
	copies := d.requests("chat")
	if len(copies) != 1 || copies[0].Permit != "" || copies[0].First != "" {
		t.Fatalf("requests %+v", copies)
	}
	id := d.question("chat", &copies[0])
	d.must(d.work(o))
	if n := d.facts("thread", func(f schemas.Fact) bool {
		return permits(f) && schemas.As[*schemas.PermitGranted](f).Permit == id && !schemas.As[*schemas.PermitGranted](f).Again
	}); n != 1 {
		t.Errorf("%d permits are granted for the first time", n)
	}
	d.deliverAll(o, "chat")
	d.clean()
}

// TestTakeoverBringsNoPermit: who publishes a request anew does not know whether
// somebody was handed the first copy. Whoever is handed the second asks, and is
// permitted again.
func TestTakeoverBringsNoPermit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("first", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(first))
	d.answerNewest("worker", "done")
	d.must(d.work(first))
	second := d.open("second", d.ledger, 0)
	d.must(d.work(second))
	copies := d.requests("chat")
	if len(copies) != 2 || copies[0].Permit == "" || copies[1].Permit != "" || copies[0].ID != copies[1].ID {
		t.Fatalf("requests %+v", copies)
	}
	if copies[0].First != d.ledger.Server() || copies[1].First != "" {
		t.Errorf("the copies are the first for %q and %q", copies[0].First, copies[1].First)
	}
	chat := d.ledger.Worker("chat")
	id := d.question("chat", &copies[1])
	d.must(d.work(second))
	d.mustHear(chat, granted(id))
	if n := d.facts("thread", func(f schemas.Fact) bool { return permits(f) && schemas.As[*schemas.PermitGranted](f).Again }); n != 1 {
		t.Errorf("%d permits are granted again", n)
	}
	d.deliverAll(second, "chat")
	d.clean()
}

// TestPermitForAnOrphan: a question about nothing that was asked is for people to
// see, unless it says no more than that: then nobody waits for it.
func TestPermitForAnOrphan(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	request := *d.last("worker")
	bare := schemas.Event{ID: schemas.RequestID(0, 1, "nobody", "t1", 1), Source: request.Source, ReplyTo: bus.ResponseSubject("worker", 0)}
	worker := d.ledger.Worker("worker")
	nobodys := d.question("worker", &bare)
	d.must(d.work(o))
	d.mustHear(worker, refusedAs(nobodys, schemas.PermitStale))
	if refused := d.quarantined(0); len(refused) != 0 {
		t.Errorf("quarantined: %+v", refused)
	}
	lying := bare
	lying.Subject = request.Subject
	lost := d.question("worker", &lying) // as a request that a loss of power has taken from the session's past
	request.ReplyTo = bus.ResponseSubject("chat", 0)
	d.question("chat", &request)
	d.put(bus.PermitSubject("worker", 0), &schemas.Event{ID: "p", Source: "/podium/worker", Type: schemas.TypeProgressUpdate, Data: []byte(`{}`)})
	d.put(bus.PermitSubject("worker", 0), &schemas.Event{ID: "p", Source: "/podium/worker", Type: schemas.TypePermitRequest, Data: []byte(`{}`)})
	d.must(d.work(o))
	d.mustHear(worker, refusedAs(lost, schemas.PermitStale))
	var reasons []schemas.QuarantineReason
	for _, refused := range d.quarantined(0) {
		reasons = append(reasons, refused.Reason)
	}
	want := []schemas.QuarantineReason{
		schemas.QuarantineMalformed, schemas.QuarantineMalformed, schemas.QuarantineUnknownRun, schemas.QuarantineWrongAgent,
	}
	if len(reasons) != len(want) {
		t.Fatalf("quarantined as %v, want %v in some order", reasons, want)
	}
	count := map[schemas.QuarantineReason]int{}
	for i := range want {
		count[reasons[i]]++
		count[want[i]]--
	}
	for reason, n := range count {
		if n != 0 {
			t.Errorf("%s: %d more than wanted", reason, n)
		}
	}
	d.clean()
}
