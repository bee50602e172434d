package admission_test

import (
	"testing"
	"time"

	"podium/supervisor/admission"
)

// together makes the controllers of all shards those of one process.
func together(local *admission.LocalOwners) func(*admission.Config) {
	return func(config *admission.Config) { config.LocalOwners = local }
}

// TestOneTaskHasAResource: at a time, in whatever shard; those that wait get it one after
// the other, and who needs something else waits for nobody.
func TestOneTaskHasAResource_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	local := &admission.LocalOwners{}
	zero, one := l.open(0, together(local)), l.open(1, together(local))
	zero.ask("print", "first")
	one.ask("print", "second")
	zero.ask("print", "third")
	one.ask("scan", "other")
	zero.expect("first")
	one.expect("other")
	zero.finish("first") // at once: the owners of a process tell each other
	zero.expect()
	one.expect("second", "other")
	one.finish("second")
	zero.expect("third")
}

// TestAResourceBetweenProcesses: who waits hears nothing from another process, and tries
// again within half a second.
func TestAResourceBetweenProcesses_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	zero, one := l.open(0, nil), l.open(1, nil)
	zero.ask("print", "first")
	one.ask("print", "second")
	zero.finish("first")
	one.expect()
	if next, set := one.Loop.Next(); !set || next.After(l.now.Add(500*time.Millisecond)) {
		t.Errorf("it tries again at %s", next)
	}
	l.after(500 * time.Millisecond)
	one.expect("second")
}

// TestAllResourcesOrNone: a task that needs several keeps none while it waits, and nobody
// behind it takes what it waits for.
func TestAllResourcesOrNone_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	local := &admission.LocalOwners{}
	zero, one := l.open(0, together(local)), l.open(1, together(local))
	zero.ask("print", "printing")
	zero.ask("scan", "scanning")
	one.ask("copy", "copying")
	zero.finish("scanning")
	one.expect()
	zero.ask("scan", "behind")
	zero.expect("printing")
	zero.finish("printing")
	one.expect("copying")
	zero.ask("print", "later")
	zero.expect()
	one.finish("copying")
	zero.expect("behind", "later")
}

// TestWhatIsNotAllThereIsNotKept: of several resources, who waits for one leaves the others
// to whoever is before it.
func TestWhatIsNotAllThereIsNotKept_M19(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1).open(0, nil)
	s.ask("scan", "scanning")
	s.ask("copy", "copying")
	s.ask("urgent", "urgent")
	s.ledger.after(time.Second)
	s.expect("scanning", "urgent")
	s.finish("scanning", "urgent")
	s.ledger.after(time.Second)
	s.expect("copying")
}

// TestWhoGivesUpGivesBack: what was cancelled while it waited holds nobody back, and what
// was cancelled while it was under way gives its resource back.
func TestWhoGivesUpGivesBack_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	s := l.open(0, nil)
	s.ask("print", "first", "second")
	s.ask("copy", "third")
	s.ask("scan", "fourth")
	s.expect("first")
	s.cancel("third")
	l.after(time.Second)
	s.expect("first", "fourth")
	s.cancel("first")
	l.after(time.Second)
	s.expect("second", "fourth")
}

// TestAResourceIsTakenWhenThereIsRoom: nobody has a resource while there is no room to use it.
func TestAResourceIsTakenWhenThereIsRoom_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	local := &admission.LocalOwners{}
	zero := l.open(0, func(config *admission.Config) { together(local)(config); size(1)(config) })
	one := l.open(1, together(local))
	zero.ask("low", "a", "b", "c")
	zero.ask("print", "waits")
	one.ask("print", "goes")
	zero.expect("a", "b", "c")
	one.expect("goes")
	zero.finish("a") // there is room now, and the printer is another's
	zero.ask("low", "d")
	zero.expect("b", "c", "d") // who waits for a printer keeps no room
	one.finish("goes")
	zero.expect("b", "c", "d")
	zero.finish("b")
	zero.expect("c", "d", "waits")
}

// TestALeaseIsRenewed: for as long as its owner is there; then it lapses, and goes on only
// while the ledger says that an agent works on the request.
func TestALeaseIsRenewed_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	zero, one := l.open(0, nil), l.open(1, nil)
	zero.ask("print", "first")
	one.ask("print", "second")
	l.after(5 * time.Minute)
	zero.expect("first")
	one.expect()

	l.crash(zero)
	expires := zero.conversation("first").state.Active.Task("t1").Expires
	l.after(expires.Sub(l.now) - 2*time.Second)
	one.expect()
	l.after(3 * time.Second)
	one.expect("second")
}

// TestALapsedLeaseOfNobodysRequest: an owner that has died before its request was on record
// keeps nobody waiting for longer than a lease.
func TestALapsedLeaseOfNobodysRequest_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	zero, one := l.open(0, nil), l.open(1, nil)
	zero.conversation("first").busy = true
	zero.ask("print", "first") // it has the lease, and its record is never stored
	one.ask("print", "second")
	l.after(5 * time.Minute)
	zero.expect()
	one.expect() // it is renewed for as long as its owner is there
	l.crash(zero)
	l.after(55 * time.Second)
	one.expect()
	l.after(10 * time.Second)
	one.expect("second")
}

// TestASuccessorKeepsTheLeases: of the requests that are under way in its shard.
func TestASuccessorKeepsTheLeases_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	former, one := l.open(0, nil), l.open(1, nil)
	former.ask("print", "first")
	l.crash(former)
	successor := l.open(0, nil)
	successor.load(former)
	one.ask("print", "second")
	l.after(5 * time.Minute)
	one.expect()
	successor.finish("first")
	l.after(time.Second)
	one.expect("second")
}

// TestAdoptionComesFirst: after a loss of power the tables may know of no lease. Nobody
// takes one before every shard has those of what is under way in it.
func TestAdoptionComesFirst_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	former := l.open(0, nil)
	former.ask("print", "first")
	after := newLedger(t, 2) // whose tables are empty
	after.now = l.now
	local := &admission.LocalOwners{}
	local.RequireLeaseAdoption(2)
	one := after.open(1, together(local))
	one.ask("print", "second")
	one.ask("scan", "third")
	one.ask("low", "fourth")
	after.after(5 * time.Second)
	one.expect("fourth") // which needs nothing for itself
	zero := after.open(0, together(local))
	zero.unread = true
	after.after(5 * time.Second)
	one.expect("fourth")
	zero.load(former)
	zero.unread = false
	after.settle()
	one.expect("third", "fourth")
	zero.finish("first")
	one.expect("second", "third", "fourth")
}

// TestAdoptionWaitsForWhoComesNext: an owner that leaves before all have adopted is waited for
// again.
func TestAdoptionWaitsForWhoComesNext_M19(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 2)
	local := &admission.LocalOwners{}
	local.RequireLeaseAdoption(2)
	zero := l.open(0, together(local))
	l.settle()
	zero.Leave()
	l.crash(zero)
	one := l.open(1, together(local))
	one.ask("print", "first")
	l.after(5 * time.Second)
	one.expect()
	zero = l.open(0, together(local))
	zero.ask("low", "anything")
	l.after(time.Second)
	one.expect("first")
}
