package admission

import (
	"maps"
	"slices"
	"time"
)

// CheckTakeoverScan lets bounded agents be asked, once all that stood in the stream at the
// takeover is known. A new owner does not know of the sessions that its predecessor has
// opened since its last checkpoint until it has read that. What they have under way counts:
// nobody is given room at a bounded agent before they are all loaded, so that a
// takeover does not ask an agent for twice its pool.
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
