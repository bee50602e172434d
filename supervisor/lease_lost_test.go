package supervisor_test

import (
	"testing"
	"time"
)

// TestLeaseIsLost: a request that was under way while its shard was without an
// owner, and whose lease another task has by now, keeps its successor from
// nothing, and its next attempt stands in line.
func TestLeaseIsLost_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	d.now = d.now.Add(2*time.Minute + time.Second) // it has expired, and nobody says so
	second := d.ask(one, 1, 2, "print")
	d.expect(first, second)
	successor := d.open("successor", d.ledger, 0)
	d.must(d.work(successor)) // which does not take for true yet that nobody has answered
	d.expect(first, second)
	d.now = d.now.Add(2 * time.Second)
	d.must(d.work(successor))
	d.expect(second)
	d.now = d.now.Add(30 * time.Second)
	d.settle(one, successor)
	d.expect(second)
	d.finish(second)
	d.settle(one)
	d.now = d.now.Add(time.Second)
	d.must(d.work(successor))
	d.expect(first)
	if attempt := d.sessionHistory(first).Run(1).Tasks[0].Attempt; attempt != 2 {
		t.Errorf("attempt %d", attempt)
	}
	d.clean()
}

// TestLeaseIsAskedForAnew: what was still to be done about an attempt that had lost
// its lease takes nothing from the next one.
func TestLeaseIsAskedForAnew_M19(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	d.use(sharing)
	zero, one := d.open("zero", d.ledger, 0), d.open("one", d.ledger, 1)
	first := d.ask(zero, 0, 1, "print")
	d.now = d.now.Add(2*time.Minute + time.Second) // it has expired, and nobody says so
	second := d.ask(one, 1, 2, "print")
	successor := d.open("successor", d.ledger, 0)
	d.must(d.work(successor)) // which looks again later whether the lease is to be had
	d.expect(first, second)
	for range 30 { // meanwhile the attempt fails, and the next one stands in line
		d.now = d.now.Add(time.Second)
		d.settle(one, successor)
	}
	d.expect(second)
	d.finish(second)
	d.settle(one)
	d.now = d.now.Add(time.Second)
	d.must(d.work(successor))
	d.expect(first)
	d.ask(one, 1, 3, "print")
	for range 3 {
		d.now = d.now.Add(time.Second)
		d.settle(one, successor)
		d.expect(first)
	}
	d.clean()
}
