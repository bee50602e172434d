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
func (c *Controller) CheckTakeoverScan(complete bool) {
	_, set := c.takeoverScanTimer.Due()
	switch {
	case c.takeoverScanned:
	case complete:
		c.takeoverScanned = true
		c.withCapacity = append(c.withCapacity, slices.Sorted(maps.Keys(c.pools))...)
	case c.takeoverScanTimer != nil && !set: // it expired right before something new was read
		c.scheduleTakeoverScan()
	}
}

// room reports whether an agent may be asked for one thing more.
func (c *Controller) room(p *pool) bool {
	switch {
	case p.limit == 0:
		return true
	case !c.takeoverScanned:
		c.scheduleTakeoverScan()
		return false
	}
	return p.room()
}

// scheduleTakeoverScan has the owner look when somebody waits for it: what a stream holds last
// may be no input.
func (c *Controller) scheduleTakeoverScan() {
	if due, set := c.takeoverScanTimer.Due(); c.takeoverScanTimer == nil || !set && c.quiet.After(due) {
		c.takeoverScanTimer = c.Loop.At(c.quiet, func(time.Time) {
			if !c.takeoverScanned {
				c.scheduleTakeoverScan()
			}
		})
	}
}
