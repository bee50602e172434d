package supervisor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/supervisor"
)

// A holed ledger does not find what get names.
type holed struct {
	bus.Core
	get  func(sequence uint64) error // nil finds everything
	gets int                         // that failed
}

// Get implements bus.Ledger.
func (c *holed) Get(ctx context.Context, stream string, sequence uint64) (bus.Message, error) {
	if c.get != nil {
		if err := c.get(sequence); err != nil {
			c.gets++
			return bus.Message{}, fmt.Errorf("get: %w", err)
		}
	}
	return c.Core.Get(ctx, stream, sequence)
}

// TestLedgerThatIsWholeAgain: nothing is found for ten seconds after a takeover, then all is
// well. The run that was under way goes on by itself.
func TestLedgerThatIsWholeAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	first := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "do it")
	d.spin(first, 5*time.Second)
	d.say("thread", "m2", "and that") // a second record, so that a load reads an earlier one
	d.spin(first, 5*time.Second)
	whole := d.now.Add(10 * time.Second)
	second := d.open("two", &holed{Core: d.ledger, get: func(uint64) error {
		if d.now.Before(whole) {
			return bus.ErrNotFound
		}
		return nil
	}}, 0)
	d.spin(second, 30*time.Second)
	before := len(d.askedOf("thread"))
	d.spin(second, time.Hour) // its deadlines are over by then
	if len(d.askedOf("thread")) == before {
		t.Error("an hour after the ledger is whole, nothing has happened")
	}
	if refused := d.refusals(); len(refused) > 0 {
		t.Errorf("in quarantine: %+v", refused)
	}
}

// TestOneMissIsNoLoss: the ledger was away for long, and then once does not find something.
func TestOneMissIsNoLoss(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	core := &holed{Core: d.ledger}
	o := d.open("one", core, 0)
	d.say("thread", "m1", "do it")
	d.must(d.work(o))
	d.deliverAll(o, "worker", "chat")
	for i := range 20 { // others, so that the session is forgotten
		d.say("other", fmt.Sprint("o", i), "do it")
		d.must(d.work(o))
		d.deliverAll(o, "worker", "chat")
		d.spin(o, 10*time.Second)
	}
	back, missed := d.now.Add(20*time.Second), 0
	core.get = func(uint64) error {
		if d.now.Before(back) {
			return &bus.TemporaryError{Op: "get", Err: context.DeadlineExceeded}
		}
		if missed++; missed == 1 {
			return bus.ErrNotFound
		}
		return nil
	}
	d.say("thread", "m2", "second")
	d.spin(o, 2*time.Minute)
	if refused := d.refusals(); len(refused) > 0 || missed < 2 {
		t.Errorf("read %d times; in quarantine: %+v", missed, refused)
	}
}

// TestOwedIsLost: what a record owes stands on a message that is lost. It is not sent, its
// deadline fails the attempt, and the shard goes on.
func TestOwedIsLost(t *testing.T) {
	t.Parallel()
	d := newSequenceDesk(t)
	first := d.open("one", d.ledger, 0)
	d.say("thread", "m1", "calculate 1 then summarize it")
	d.must(d.work(first))
	requests := d.requests("worker")
	answer := d.answer("worker", &requests[0], strings.Repeat("long ", 4000))
	d.must(d.work(first))
	second := d.open("two", &holed{Core: d.ledger, get: func(sequence uint64) error {
		if sequence == answer {
			return bus.ErrNotFound
		}
		return nil
	}}, 0)
	d.spin(second, 2*time.Hour)
	if second.Busy() {
		t.Error("it is busy for ever")
	}
	before := d.checkpoint(0).LowWatermark
	d.say("other", "o1", "do it")
	d.spin(second, time.Hour)
	if after := d.checkpoint(0).LowWatermark; after <= before {
		t.Errorf("the low watermark was %d and is %d", before, after)
	}
}

// TestLostConversationsKeepNoRoom: tasks of sessions of which something is lost wait
// for an agent, and others are served.
func TestLostConversationsKeepNoRoom(t *testing.T) {
	t.Parallel()
	d := newSequenceDesk(t)
	lost := map[uint64]bool{}
	view := &holed{Core: d.ledger, get: func(sequence uint64) error {
		if lost[sequence] {
			return bus.ErrNotFound
		}
		return nil
	}}
	o := d.openWith(view, func(c *supervisor.Config) { c.PoolSize = func(string) int { return 1 } }) // 3 under way
	for i := range 3 {
		d.say(fmt.Sprint("torn", i), fmt.Sprint("m", i), "calculate 1 then summarize it")
	}
	d.must(d.work(o))
	first := d.requests("worker")
	// others wait for room, so that the second steps wait for a grant
	for i := range 3 {
		d.say(fmt.Sprint("before", i), fmt.Sprint("b", i), "do it")
	}
	d.must(d.work(o))
	for i := range first {
		lost[d.answer("worker", &first[i], strings.Repeat("long ", 4000))] = true
	}
	d.must(d.work(o))
	for i := range 3 {
		for _, r := range d.askedOf(fmt.Sprint("before", i)) {
			d.answer("worker", &r, "done")
		}
	}
	d.must(d.work(o))
	d.spin(o, time.Minute)
	d.say("whole", "w", "do it")
	d.spin(o, 2*time.Hour)
	if len(d.askedOf("whole")) == 0 {
		t.Error("nobody else is served: damaged sessions keep the agent's room")
	}
}

// TestDoubtOverALoss: an append has no outcome, and a record before the newest is lost.
func TestDoubtOverALoss(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	view := &holed{Core: d.ledger}
	lose := false
	core := &trouble{Core: view, lose: func(message bus.Message) fate {
		id, _ := d.session("thread")
		if lose && message.Subject == bus.SessionSubject(id, 1) {
			lose = false
			return refused
		}
		return stored
	}}
	o := d.open("one", core, 0)
	d.say("thread", "m1", "do it")
	d.spin(o, 2*time.Second)
	d.say("thread", "m2", "and that")
	d.spin(o, 2*time.Second)
	view.get = func(uint64) error { return bus.ErrNotFound }
	lose = true
	d.say("thread", "m3", "third")
	d.spin(o, 2*time.Hour)
	if o.Busy() {
		t.Error("busy for ever")
	}
	if len(d.refusals()) == 0 {
		t.Error("what came for it is in no quarantine")
	}
}
