package admission

import (
	"slices"
	"sync"
	"time"
)

// LocalOwners are the owners of one process. A resource that one of them sets free
// is tried again by the others at once; owners of other processes notice within
// half a second. It is safe for use by several goroutines, and nil is nobody.
type LocalOwners struct {
	mu              sync.Mutex
	owners          []*Controller
	unadoptedShards map[int]struct{} // shards, while nobody takes leases
}

// Join makes the controller one of the local owners, until Leave.
func (c *Controller) Join() {
	if l := c.LocalOwners; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.owners = append(l.owners, c)
	}
}

// Leave ends that.
func (c *Controller) Leave() {
	l := c.LocalOwners
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owners = slices.DeleteFunc(l.owners, func(other *Controller) bool { return other == c })
	if len(l.unadoptedShards) > 0 {
		l.unadoptedShards[c.Shard] = struct{}{} // whoever comes after it adopts for itself
	}
}

// wakeHeld has the tasks of all but one look for room that wait for the budget of a day.
func (l *LocalOwners) wakeHeld(by *Controller) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.owners {
		if other != by {
			other.Loop.Post(func(time.Time) { other.days.due = other.days.due || len(other.days.held) > 0 })
		}
	}
}

// tell has all but one hear of what is free now.
func (l *LocalOwners) tell(by *Controller, free []string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.owners {
		if other != by {
			other.Loop.Post(func(time.Time) { other.retryFor(free) })
		}
	}
}
