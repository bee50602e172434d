package supervisor_test

import (
	"errors"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas/workflow"
	"podium/supervisor"
)

// TestLeaseOfAFormerOwner: one that does not know yet that it is one uses nothing
// that its successor has given back, however much of that it has missed.
func TestLeaseOfAFormerOwner_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	unaware := false
	zero := d.open("zero", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if unaware && message.Subject == bus.ShardSubject(0) {
			return silent // by its checkpoint it would learn that it is a former one
		}
		return stored
	}}, 0)
	one := d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "copy")
	second := d.ask(one, 1, 2, "print")
	d.expect(first)
	unaware = true
	successor := d.open("successor", d.ledger, 0)
	d.must(d.work(successor))
	d.refuse("worker", d.last("worker"))
	d.must(d.work(successor))
	d.now = d.now.Add(500 * time.Millisecond)
	d.must(d.work(one))
	d.expect(second)
	d.now = d.now.Add(time.Second)
	d.must(d.work(successor)) // the second attempt is ready
	for range 4 {
		d.now = d.now.Add(500 * time.Millisecond)
		if err := d.work(zero); err != nil && !errors.Is(err, supervisor.ErrNotOwner) {
			t.Fatal(err)
		}
		d.expect(second)
	}
	d.clean()
}

// TestLeaseOfAnAttemptThatASuccessorDoesNotKnow: what a former owner has taken for its
// next attempt is not given back by a successor that knows of the attempt before.
func TestLeaseOfAnAttemptThatASuccessorDoesNotKnow_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	unaware := false
	var ofZero, ofSuccessor delayed
	zero := d.openAs("zero", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if unaware && message.Subject == bus.ShardSubject(0) {
			return silent // by its checkpoint it would learn that it is a former one
		}
		return stored
	}}, 0, func(config *supervisor.Config) { config.Go = ofZero.run })
	one := d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	d.expect(first)
	d.spin(zero, 3*time.Second) // until a checkpoint names it
	successor := d.openAs("successor", d.ledger, 0, func(config *supervisor.Config) { config.Go = ofSuccessor.run })
	ofSuccessor.slow = true
	d.must(d.work(successor)) // it is about to take over what the first attempt has
	unaware = true
	d.refuse("worker", d.last("worker"))
	d.must(d.work(zero))
	d.now = d.now.Add(time.Second)
	ofZero.slow = true
	d.must(d.work(zero)) // the second attempt is due
	ofZero.rest()        // and has the lease, which its owner has not heard yet
	second := d.ask(one, 1, 2, "print")
	ofSuccessor.rest()
	d.must(d.work(successor)) // it hears that the first attempt has failed
	ofSuccessor.rest()
	d.must(d.work(successor))
	ofSuccessor.rest()
	d.now = d.now.Add(500 * time.Millisecond)
	d.must(d.work(one))
	if err := d.work(zero); err != nil && !errors.Is(err, supervisor.ErrNotOwner) {
		t.Fatal(err)
	}
	d.expect(first)
	if state := d.state(second); state != workflow.TaskReady {
		t.Errorf("the other task is %s", state)
	}
	d.clean()
}

// delayed are operations of an owner that have to wait.
type delayed struct {
	slow bool
	late []func()
}

func (l *delayed) run(operation func()) {
	if l.slow {
		l.late = append(l.late, operation)
		return
	}
	operation()
}

func (l *delayed) rest() {
	for len(l.late) > 0 {
		first := l.late[0]
		l.late = l.late[1:]
		first()
	}
}

// TestLeaseOfADeadSuccessor: what a successor has taken and not used is free again
// when it has lapsed, for the owner before it as well, which may be all that is left.
func TestLeaseOfADeadSuccessor_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	one := d.open("one", d.ledger, 1)
	zero := d.openAs("zero", d.ledger, 0, func(config *supervisor.Config) {
		config.CheckpointEvery = time.Hour // by its checkpoint it would learn that it is a former one
	})
	first := d.ask(one, 1, 1, "print")
	second := d.ask(zero, 0, 2, "print")
	d.expect(first)
	id, _ := d.session(second)
	dying := false
	successor := d.open("successor", &trouble{Core: d.ledger, lose: func(message bus.Message) fate {
		if dying && message.Subject == bus.SessionSubject(id, 2) {
			return silent
		}
		return stored
	}}, 0)
	d.must(d.work(successor))
	d.finish(first)
	d.must(d.work(one))
	dying = true
	d.now = d.now.Add(500 * time.Millisecond)
	d.must(d.work(successor)) // takes the lease; its record comes to nothing, and it dies
	for range 50 {
		d.now = d.now.Add(time.Second)
		d.must(d.work(zero))
		d.expect()
	}
	d.now = d.now.Add(11 * time.Second)
	d.must(d.work(zero))
	d.expect(second)
	d.clean()
}
