package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"podium/bus"
)

// formerStream is a source of its own for takeovers from the living: worlds without them
// are as they were, and those that were known to catch a planted bug before have none.
const formerStream = 0x666f726d65753e

// patienceOfClients is how long a process waits for an acknowledgment before it gives
// the message up, as bus/jetstream has it. So long it may not hear that its checkpoint is refused.
const patienceOfClients = 30 * time.Second

func newFormers(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, formerStream)) //nolint:gosec // a simulation repeats
}

// former draws whether shards are taken over from the living; then a permit to act outside
// is asked for in most worlds.
func (c *configuration) former(r *rand.Rand) {
	if c.formers = once(r, 5); c.formers {
		c.permits = c.permits || once(r, 2)
	}
}

// succeed lets a process take a shard over from one that lives on. The former owner is
// an owner like any other: it decides, appends and sends until an append tells it, by a
// record of its successor before its own or by its checkpoint. The world only has its
// checkpoint be on its way for a while, and gives it turns while its successor still
// loads, before that has read anything, and when something is due with it.
func (w *World) succeed() {
	former := w.worthwhile()
	if former == nil {
		return
	}
	r := w.formers
	former.view.slowUntil = w.now.Add(time.Second + time.Duration(r.Int64N(int64(patienceOfClients-time.Second))))
	w.meanwhile = func() { w.turns(former, r.IntN(3)) }
	w.start(former.shard)
	w.meanwhile = nil
	if last := len(w.processes) - 1; last >= 0 {
		w.turns(w.processes[last], r.IntN(4))
	}
	for range 1 + r.IntN(3) {
		if at, due := former.next(); due && r.IntN(3) > 0 && at.After(w.now) && at.Before(former.view.slowUntil) {
			w.now = at
		}
		w.turns(former, 1+r.IntN(4))
		for range r.IntN(6) {
			w.agents[r.IntN(len(w.agents))].step()
		}
	}
}

// worthwhile picks an owner that has something under way, or else any.
func (w *World) worthwhile() *process {
	var owners, busy []*process
	for _, p := range w.processes {
		if w.watch.newest[p.shard] != p.view || p.view.crashed.Load() {
			continue
		}
		owners = append(owners, p)
		if p.owner.OpenSessions() > 0 {
			busy = append(busy, p)
		}
	}
	if len(busy) > 0 {
		owners = busy
	}
	if len(owners) == 0 {
		return nil
	}
	return owners[w.formers.IntN(len(owners))]
}

// turns lets a process work, as long as it lives.
func (w *World) turns(p *process, n int) {
	for range n {
		if i := slices.Index(w.processes, p); i >= 0 {
			w.tick(i)
		}
	}
}

// slow reports whether a message is on its way for a while, and then keeps it.
func (f *faults) slow(message *bus.Message, arrive func()) bool {
	if message.Subject != bus.ShardSubject(f.shard) || !f.now().Before(f.slowUntil) {
		return false
	}
	f.checkpoints = append(f.checkpoints, arrive)
	return true
}

// hurry lets a message arrive that was on its way for long enough.
func (f *faults) hurry() bool {
	if len(f.checkpoints) == 0 || f.now().Before(f.slowUntil) {
		return false
	}
	arrive := f.checkpoints[0]
	f.checkpoints = f.checkpoints[1:]
	arrive()
	return true
}

// crashStream is a source of its own for crashes of the ledger's server: worlds without
// them are as they were, and those that are known to catch a planted bug have none.
const crashStream = 0x6372617a6d

func newCrashes(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, crashStream)) //nolint:gosec // a simulation repeats
}

// crash draws whether the server is killed now and then; in most of those worlds agents
// ask before they act, and in some the server has no name at times.
func (c *configuration) crash(r *rand.Rand) {
	if c.crashes = once(r, 4); c.crashes {
		c.permits = c.permits || !once(r, 3)
	}
	c.nameless = c.crashes && once(r, 4)
}

// Server is the ledger's, but for some seconds now and then if the world is such.
func (f *faults) Server() string {
	if f.nameless && f.now().Unix()/5%2 == 0 {
		return ""
	}
	return f.Core.Server()
}

// crash kills the ledger's server and starts it again. What it had written of its queues
// is some requests behind, or nothing at all: those it hands out again, acknowledged or
// not, and counts them from 1. Everybody else lives on.
func (w *World) crash() {
	w.ledger.Restart(func(_ string, next uint64) uint64 {
		if once(w.crashes, 4) {
			return 1
		}
		return next - min(next, w.crashes.Uint64N(8))
	})
}
