package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"podium/bus"
	"podium/schemas/fault"
)

// A resourceLease says who uses a resource that tasks share (M-19). It is the value of
// one key in bus.LeaseBucket and changes by compare-and-set alone.
//
// One task has it at a time. It lapses when its holder's owner does not renew it;
// even then nobody takes it as long as the ledger says that an agent works on the
// holder's request. A task takes the leases of all its resources or none, so that
// nobody waits while others wait for it, and there is no deadlock. Of those who
// wait for a resource the most urgent stands in the lease itself, else the one who
// waits longest: nobody behind it takes what it waits for, in any process, so that
// a task which needs several resources gets them as soon as those before it have
// ended. It has lost its place when it has not asked for leaseWaits.
type resourceLease struct {
	Resource string `json:"resource"`
	Holder   string `json:"holder,omitzero"` // <run>/<task>; nobody when empty
	Epoch    uint64 `json:"epoch,omitzero"`  // of the owner of its shard that renews it
	// Attempt is that of the task which it is for. Of two owners that live at a time, the
	// one that knows of an earlier attempt leaves it alone.
	Attempt int         `json:"attempt,omitzero"`
	Until   time.Time   `json:"until,omitzero"`
	Next    *leasePlace `json:"next,omitzero"` // the first of those who wait
}

// A leasePlace is a task's place in the queue for a resource.
type leasePlace struct {
	Holder   string    `json:"holder"`
	Epoch    uint64    `json:"epoch"`
	Attempt  int       `json:"attempt,omitzero"`
	Priority int       `json:"priority"`       // smaller goes first
	Since    time.Time `json:"since"`          // then who waits longest
	Until    time.Time `json:"until,omitzero"` // when the place is lost
}

const (
	leaseTime   = time.Minute
	leaseRenew  = 20 * time.Second
	leaseMargin = 20 * time.Second // left at least when a request goes out
	leaseRetry  = 500 * time.Millisecond
	leaseWaits  = 5 * time.Second // a place is kept without being asked for again
)

// leaseKey is the key of a resource's lease: any text can name a resource.
func leaseKey(resource string) string {
	sum := sha256.Sum256([]byte(resource))
	return hex.EncodeToString(sum[:])
}

// before reports whether a place is in front of another.
func (p *leasePlace) before(other *leasePlace) bool {
	switch {
	case p.Priority != other.Priority:
		return p.Priority < other.Priority
	case !p.Since.Equal(other.Since):
		return p.Since.Before(other.Since)
	}
	return p.Holder < other.Holder
}

// A leaseVerdict is whether a task may take a lease.
type leaseVerdict int

const (
	leaseFree   leaseVerdict = iota
	leaseHeld                // by another task, or another one comes first
	leaseLapsed              // its holder has not renewed it: the ledger knows whether it is used
)

func (l *resourceLease) verdict(place *leasePlace, now time.Time) leaseVerdict {
	switch {
	case l.Holder == place.Holder && l.Epoch <= place.Epoch && l.Attempt <= place.Attempt:
		return leaseFree
	case l.Holder != "" && now.Before(l.Until):
		if fault.Is("a resource is free for everybody") {
			return leaseFree
		}
		return leaseHeld // maybe by a successor of whoever asks
	case l.Next != nil && l.Next.Holder != place.Holder && now.Before(l.Next.Until) && l.Next.before(place):
		return leaseHeld
	case l.Holder != "":
		return leaseLapsed
	}
	return leaseFree
}

// verdictOnAdoption is the verdict on a lease that a request under way has to have, while nobody takes
// leases: what the bucket says of somebody else is of the past, and the records know.
func (l *resourceLease) verdictOnAdoption(place *leasePlace, now time.Time) leaseVerdict {
	verdict := l.verdict(place, now)
	switch {
	case verdict != leaseHeld:
	case l.Holder == place.Holder, l.Holder == "":
		return leaseFree
	default:
		return leaseLapsed
	}
	return verdict
}

// take gives the lease to a task.
func (l *resourceLease) take(place *leasePlace, now time.Time) {
	l.Holder, l.Epoch, l.Attempt, l.Until = place.Holder, place.Epoch, place.Attempt, now.Add(leaseTime)
	if l.Next != nil && l.Next.Holder == place.Holder {
		l.Next = nil
	}
}

// wait puts a task in the queue unless somebody before it is first, and reports whether
// that changes anything. A place is confirmed when half of its time is over.
func (l *resourceLease) wait(place *leasePlace, now time.Time) bool {
	if first := l.Next; first != nil && now.Before(first.Until) {
		mine := first.Holder == place.Holder
		if !mine && first.before(place) || mine && first.Until.Sub(now) > leaseWaits/2 {
			return false
		}
	}
	next := *place
	next.Until = now.Add(leaseWaits)
	l.Next = &next
	return true
}

// leave ends all that a task has to do with the lease, and reports whether that
// changes anything. What a successor of its owner keeps by now stays.
func (l *resourceLease) leave(place *leasePlace) bool {
	changed := l.yield(place)
	if l.Next != nil && l.Next.Holder == place.Holder && l.Next.Epoch == place.Epoch {
		l.Next, changed = nil, true
	}
	return changed
}

// yield gives the lease back.
func (l *resourceLease) yield(place *leasePlace) bool {
	if !l.mine(place) {
		return false
	}
	l.Holder, l.Epoch, l.Attempt, l.Until = "", 0, 0, time.Time{}
	return true
}

func (l *resourceLease) mine(place *leasePlace) bool {
	return l.Holder == place.Holder && l.Epoch == place.Epoch && l.Attempt == place.Attempt
}

// renew keeps the lease for another leaseTime, if it is still this owner's.
func (l *resourceLease) renew(place *leasePlace, now time.Time) bool {
	if !l.mine(place) {
		return false
	}
	l.Until = now.Add(leaseTime)
	return true
}

func (c *Controller) leases() bus.KeyValue { return c.Core.KeyValue(bus.LeaseBucket) }
