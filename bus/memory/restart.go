package memory

import (
	"maps"
	"slices"
	"strconv"
)

// name is the server's; the lock is held.
func (l *Ledger) name() string { return "memory-" + strconv.Itoa(l.starts) }

// Server implements bus.Core. It changes with Restart.
func (l *Ledger) Server() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name()
}

// Restart has the server killed and started again, while everybody who is connected
// lives on. What the streams hold is there. Of a queue the server knows what it has
// written of it last: noted is called for each agent, in order of their names, with
// the sequence of the work stream below which all requests were handed out, and
// returns the one below which that was written; at most the same. What stands from
// there on is handed out as if for the first time, acknowledged or not.
func (l *Ledger) Restart(noted func(agent string, next uint64) uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts++
	for _, agent := range slices.Sorted(maps.Keys(l.consumers)) {
		c := l.consumers[agent]
		c.from = max(min(noted(agent, c.from), c.from), 1)
		c.pending = slices.DeleteFunc(c.pending, func(p *lease) bool { return p.message.Sequence >= c.from })
		c.wake()
	}
}
