package supervisor_test

import (
	"fmt"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// TestOrphansTakeTheirPlaces: a session that turns out to have asked for what an
// orphan answers takes that before everything behind it, although it is loaded for
// something behind it, and nobody has looked for the orphan yet.
func TestOrphansTakeTheirPlaces_X03(t *testing.T) {
	t.Parallel()
	core := &counting{}
	u := newUnawareDesk(t, func(ledger bus.Core) bus.Core {
		core.Core = ledger
		return core
	})
	core.blind = true
	answer := u.answerBare("worker", u.request, "done at last")
	message := u.say("thread", "m2", "and this")
	u.must(u.work(u.owner))
	id, _ := u.session("thread")
	if u.once(id); u.task().State != workflow.TaskCompleted || len(u.refusals()) != 0 {
		t.Errorf("the task is %s, %d in quarantine", u.task().State, len(u.refusals()))
	}
	if u.owner.Watermark() < message || message < answer {
		t.Errorf("the low watermark is %d, behind %d and %d", u.owner.Watermark(), answer, message)
	}
	u.clean()
}

// TestLateOrphansAreOnRecord: a bare answer to an attempt before the newest is late,
// as one is that names its run.
func TestLateOrphansAreOnRecord_X06(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	o := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	first := *d.last("worker")
	d.refuse("worker", &first)
	d.must(d.work(o))
	d.now = d.now.Add(time.Second)
	d.must(d.work(o))
	d.answerBare("worker", &first, "done after all")
	d.must(d.work(o))
	late := d.facts("thread", func(f schemas.Fact) bool {
		return schemas.As[*schemas.ResponseLate](f) != nil && schemas.As[*schemas.ResponseLate](f).Attempt == 1
	})
	if found := d.refusals(); late != 1 || len(found) != 0 {
		t.Errorf("%d are late, %d in quarantine", late, len(found))
	}
	d.clean()
}

// TestFloodOfOrphansIsBounded: one look speaks for all orphans that have been read,
// there is one at a time, and it rests for as long as it took. Nobody waits for it.
func TestFloodOfOrphansIsBounded(t *testing.T) {
	t.Parallel()
	const flood, threads = 300, 20
	d := newDesk(t, 1)
	var looks []func()
	core := &counting{Core: d.ledger}
	o := d.openWith(core, func(config *supervisor.Config) {
		config.Go = func(operation func()) { looks = append(looks, operation) }
	})
	for i := range threads {
		d.say(fmt.Sprint("thread", i), fmt.Sprint("m", i), "do it")
	}
	d.must(d.work(o))
	if looks = nil; len(d.requests("worker")) != threads {
		t.Fatalf("%d requests", len(d.requests("worker")))
	}
	core.shards = 0
	for _, request := range d.requests("worker") {
		for range flood / threads {
			d.bareAnswer()
		}
		d.answerBare("worker", &request, "done")
		d.must(d.work(o))
	}
	if completed := len(d.requests("chat")); completed != threads || len(looks) != 1 || len(d.refusals()) != 0 {
		t.Fatalf("%d of %d went on, %d looks, %d in quarantine", completed, threads, len(looks), len(d.refusals()))
	}
	const took = 3 * time.Second
	d.now = d.now.Add(took)
	looks[0]()
	d.must(d.work(o))
	first := len(d.refusals())
	if first == 0 || first == flood || len(looks) != 1 {
		t.Fatalf("%d in quarantine, %d looks", first, len(looks))
	}
	d.spin(o, took-time.Millisecond)
	if len(looks) != 1 {
		t.Fatalf("%d looks: it does not rest", len(looks))
	}
	d.spin(o, time.Millisecond)
	if len(looks) != 2 {
		t.Fatalf("%d looks after the rest", len(looks))
	}
	looks[1]()
	d.must(d.work(o))
	if found := len(d.refusals()); found != flood || core.shards != 2 {
		t.Errorf("%d of %d in quarantine, %d reads", found, flood, core.shards)
	}
	d.clean()
}

// TestOrphansWaitForTheLedger: a look that fails is tried again, and dismisses nobody.
func TestOrphansWaitForTheLedger_X03(t *testing.T) {
	t.Parallel()
	core := &counting{}
	u := newUnawareDesk(t, func(ledger bus.Core) bus.Core {
		core.Core = ledger
		return core
	})
	core.fail = 5
	u.answerBare("worker", u.request, "done at last")
	u.bareAnswer()
	u.must(u.work(u.owner))
	if found := u.refusals(); len(found) != 0 {
		t.Fatalf("%d in quarantine", len(found))
	}
	u.spin(u.owner, 10*time.Second)
	if found := u.refusals(); len(found) != 1 || core.fail != 0 || u.task().State != workflow.TaskCompleted {
		t.Errorf("%d in quarantine, the task is %s", len(found), u.task().State)
	}
	u.clean()
}

// TestOrphanIsQuickerThanTheLedger: a new owner may send what a record asks for before
// the one that has written it hears that it is stored. The answer is no orphan.
func TestOrphanIsQuickerThanTheLedger_X03(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	id, _ := d.session("thread")
	core := &muffled{Core: d.ledger, subject: bus.SessionSubject(id, 1)}
	former := d.open("former", core, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(former))
	owner := d.open("owner", d.ledger, 0)
	d.must(d.work(owner))
	requests := d.requests("worker")
	if len(core.held) != 1 || len(requests) == 0 {
		t.Fatalf("%d records are not acknowledged, %d requests", len(core.held), len(requests))
	}
	d.answerBare("worker", &requests[0], "done")
	d.must(d.work(former))
	core.held[0]()
	core.subject = ""
	d.must(d.work(former))
	if found := d.refusals(); len(found) != 0 || d.sessionHistory("thread").Run(1).Tasks[0].State != workflow.TaskCompleted {
		t.Errorf("%d in quarantine, the task is %s", len(found), d.sessionHistory("thread").Run(1).Tasks[0].State)
	}
	d.clean()
}

// A muffled ledger keeps the acknowledgments of a subject back.
type muffled struct {
	bus.Core
	subject string
	held    []func()
}

func (c *muffled) Publish(message bus.Message, expect bus.Expect, done func(bus.Ack, error)) {
	if message.Subject != c.subject {
		c.Core.Publish(message, expect, done)
		return
	}
	c.Core.Publish(message, expect, func(ack bus.Ack, err error) {
		c.held = append(c.held, func() { done(ack, err) })
	})
}
