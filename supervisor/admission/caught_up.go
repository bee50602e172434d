package admission

import (
	"maps"
	"slices"
	"time"
)

// A new owner does not know of the sessions that its predecessor has opened since
// its last checkpoint, until it has read what stood in the stream then. What they
// have under way counts: nobody is given room at a bounded agent before they are
// all loaded, so that a takeover does not ask an agent for twice its pool.

// CheckTakeoverScan notes once that the owner knows all that is under way in its shard.
func (a *Controller) CheckTakeoverScan(complete bool) {
	_, set := a.takeoverScanTimer.Due()
	switch {
	case a.takeoverScanned:
	case complete:
		a.takeoverScanned = true
		a.withCapacity = append(a.withCapacity, slices.Sorted(maps.Keys(a.pools))...)
	case a.takeoverScanTimer != nil && !set: // it expired right before something new was read
		a.scheduleTakeoverScan()
	}
}

// room reports whether an agent may be asked for one thing more.
func (a *Controller) room(p *pool) bool {
	switch {
	case p.limit == 0:
		return true
	case !a.takeoverScanned:
		a.scheduleTakeoverScan()
		return false
	}
	return p.room()
}

// scheduleTakeoverScan has the owner look when somebody waits for it: what a stream holds last
// may be no input.
func (a *Controller) scheduleTakeoverScan() {
	if due, set := a.takeoverScanTimer.Due(); a.takeoverScanTimer == nil || !set && a.quiet.After(due) {
		a.takeoverScanTimer = a.Loop.At(a.quiet, func(time.Time) {
			if !a.takeoverScanned {
				a.scheduleTakeoverScan()
			}
		})
	}
}
