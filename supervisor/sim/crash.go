package sim

import "math/rand/v2"

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
