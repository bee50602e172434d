package admission

import "time"

// After a loss of power the bucket of leases may be what it was some time before, or be
// without a lease: the records may know of requests under way whose resources nobody has
// in it. The owners of one process then adopt all that is under way before any of them
// takes a lease for a new request (see LocalOwners.RequireLeaseAdoption).

// RequireLeaseAdoption keeps the owners from taking leases until each of so many shards has had
// an owner that has taken over the leases of all that is under way in it. Call it before
// the owners are opened, when the ledger was not stopped in order. A shard that nobody
// can open keeps the others waiting.
func (l *LocalOwners) RequireLeaseAdoption(shards int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unadoptedShards = make(map[int]struct{}, shards)
	for shard := range shards {
		l.unadoptedShards[shard] = struct{}{}
	}
}

// allAdopted reports whether leases may be taken.
func (l *LocalOwners) allAdopted() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unadoptedShards) == 0
}

// leasesAdopted notes that the leases of a shard are what its records say. With the last one
// everybody may try.
func (l *LocalOwners) leasesAdopted(shard int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if delete(l.unadoptedShards, shard); len(l.unadoptedShards) > 0 {
		return
	}
	for _, owner := range l.owners {
		owner.Loop.Post(func(time.Time) { owner.resourceClaims.retryQueued = true })
	}
}

// mayTakeLeases reports whether new requests may take leases. Until they may, it looks
// whether all of this shard's are adopted.
func (c *Controller) mayTakeLeases() bool {
	switch {
	case c.resourceClaims.allAdopted:
	case c.LocalOwners.allAdopted():
		c.resourceClaims.allAdopted = true
	case !c.takeoverScanned:
		c.scheduleTakeoverScan()
	case !c.resourceClaims.adoptionReported && !c.adoptingLeases():
		c.resourceClaims.adoptionReported = true
		c.LocalOwners.leasesAdopted(c.Shard)
		c.resourceClaims.allAdopted = c.LocalOwners.allAdopted()
	}
	return c.resourceClaims.allAdopted
}

// adoptingLeases reports whether a request is under way whose leases were not looked at yet.
func (c *Controller) adoptingLeases() bool {
	for _, claim := range c.resourceClaims.claims {
		if claim.underWay && len(claim.held) == 0 && (!claim.looked || claim.busy) {
			return true
		}
	}
	return false
}
