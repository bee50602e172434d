package supervisor

import (
	"slices"
	"sync"
	"time"
)

// Neighbors are the owners of one process. A resource that one of them sets free
// is tried again by the others at once; owners of other processes notice within
// half a second. It is safe for use by several goroutines, and nil is nobody.
type Neighbors struct {
	mu        sync.Mutex
	owners    []*Owner
	unadopted map[int]struct{} // shards, while nobody takes leases
}

func (n *Neighbors) join(o *Owner) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owners = append(n.owners, o)
}

func (n *Neighbors) leave(o *Owner) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.owners = slices.DeleteFunc(n.owners, func(other *Owner) bool { return other == o })
	if len(n.unadopted) > 0 {
		n.unadopted[o.Shard] = struct{}{} // whoever comes after it adopts for itself
	}
}

// tell has all but one hear of what is free now.
func (n *Neighbors) tell(by *Owner, free []string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.owners {
		if o != by {
			o.later(func(time.Time) { o.retryFor(free) })
		}
	}
}
