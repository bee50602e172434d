package admission

import "time"

// After a loss of power the bucket of leases may be what it was some time before, or be
// without a lease: the records may know of requests under way whose resources nobody has
// in it. The owners of one process then adopt all that is under way before any of them
// takes a lease for a new request (see LocalOwners.AwaitAdoption).

// AwaitAdoption keeps the owners from taking leases until each of so many shards has had
// an owner that has taken over the leases of all that is under way in it. Call it before
// the owners are opened, when the ledger was not stopped in order. A shard that nobody
// can open keeps the others waiting.
func (l *LocalOwners) AwaitAdoption(shards int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unadopted = make(map[int]struct{}, shards)
	for shard := range shards {
		l.unadopted[shard] = struct{}{}
	}
}

// settled reports whether leases may be taken.
func (l *LocalOwners) settled() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unadopted) == 0
}

// adopted notes that the leases of a shard are what its records say. With the last one
// everybody may try.
func (l *LocalOwners) adopted(shard int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.unadopted, shard); len(l.unadopted) > 0 {
		return
	}
	for _, owner := range l.owners {
		owner.Loop.Post(func(time.Time) { owner.leaseClaims.retryQueued = true })
	}
}

// mayTakeLeases reports whether new requests may take leases. Until they may, it looks
// whether all of this shard's are adopted.
func (a *Controller) mayTakeLeases() bool {
	switch {
	case a.leaseClaims.settled:
	case a.LocalOwners.settled():
		a.leaseClaims.settled = true
	case !a.surveyed:
		a.surveyAgain()
	case !a.leaseClaims.told && !a.adopting():
		a.leaseClaims.told = true
		a.LocalOwners.adopted(a.Shard)
		a.leaseClaims.settled = a.LocalOwners.settled()
	}
	return a.leaseClaims.settled
}

// adopting reports whether a request is under way whose leases were not looked at yet.
func (a *Controller) adopting() bool {
	for _, u := range a.leaseClaims.claims {
		if u.underWay && len(u.held) == 0 && (!u.looked || u.busy) {
			return true
		}
	}
	return false
}
