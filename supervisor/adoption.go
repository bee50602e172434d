package supervisor

import "time"

// After a loss of power the bucket of leases may be what it was some time before, or be
// without a lease: the records may know of requests under way whose resources nobody has
// in it. The owners of one process then adopt all that is under way before any of them
// takes a lease for a new request (see Neighbors.AwaitAdoption).

// AwaitAdoption keeps the owners from taking leases until each of so many shards has had
// an owner that has taken over the leases of all that is under way in it. Call it before
// the owners are opened, when the ledger was not stopped in order. A shard that nobody
// can open keeps the others waiting.
func (n *Neighbors) AwaitAdoption(shards int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unadopted = make(map[int]struct{}, shards)
	for shard := range shards {
		n.unadopted[shard] = struct{}{}
	}
}

// settled reports whether leases may be taken.
func (n *Neighbors) settled() bool {
	if n == nil {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.unadopted) == 0
}

// adopted notes that the leases of a shard are what its records say. With the last one
// everybody may try.
func (n *Neighbors) adopted(shard int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if delete(n.unadopted, shard); len(n.unadopted) > 0 {
		return
	}
	for _, o := range n.owners {
		o.later(func(time.Time) { o.leasing.stirred = true })
	}
}

// mayTakeLeases reports whether new requests may take leases. Until they may, it looks
// whether all of this shard's are adopted.
func (o *Owner) mayTakeLeases() bool {
	switch {
	case o.leasing.settled:
	case o.Neighbors.settled():
		o.leasing.settled = true
	case !o.surveyed:
		o.surveyAgain(o.heard.Add(o.CatchUp))
	case !o.leasing.told && !o.adopting():
		o.leasing.told = true
		o.Neighbors.adopted(o.Shard)
		o.leasing.settled = o.Neighbors.settled()
	}
	return o.leasing.settled
}

// adopting reports whether a request is under way whose leases were not looked at yet.
func (o *Owner) adopting() bool {
	for _, u := range o.leasing.usages {
		if u.underWay && len(u.held) == 0 && (!u.looked || u.busy) {
			return true
		}
	}
	return false
}

// claim is the verdict on a lease that a request under way has to have, while nobody takes
// leases: what the bucket says of somebody else is of the past, and the records know.
func (l *lease) claim(place *leasePlace, now time.Time) leaseVerdict {
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
