// Package tiers has a supervisor below another one say when all of its work waits, in worlds with that: what it waits with takes none of its few places, and what works
// again does. All of it is drawn from a source of its own.
package tiers

import (
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// stream is a source of its own for supervisors below others, so that worlds without it are as they were.
const stream = 0x7469657273

// Tiers are what a world has in which a supervisor gives places back; nil is a world without.
type Tiers struct{ rand *rand.Rand }

// New returns those of the world of a seed.
func New(seed uint64) *Tiers {
	return &Tiers{rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // a simulation repeats
}

// Declare says in profiles that an agent is a supervisor, which has most of the work of whoever asks it, and time for it. One that promises signs of life gives
// fewer than it says while it waits. In some worlds it says so and is none.
func (t *Tiers) Declare(sources []schemas.Profile, supervisor string) {
	if t == nil {
		return
	}
	said := t.rand.IntN(6) > 0
	for i := range sources {
		p := &sources[i]
		for n := range p.Agents {
			use := &p.Agents[n]
			if use.Name != supervisor {
				continue
			}
			use.Supervisor, use.Work = said, pick(t.rand, schemas.Duration(time.Minute), schemas.Duration(20*time.Minute), schemas.Duration(5*time.Minute))
			use.Heartbeat = pick(t.rand, 0, 0, schemas.Duration(12*time.Second))
			if t.rand.IntN(4) > 0 {
				p.Routers = []schemas.Router{{Kind: schemas.RouterDefault, Agent: supervisor}}
			}
		}
	}
}

// Places is how many requests the supervisor works on at a time; size is what another world would have.
func (t *Tiers) Places(size int) int {
	if t == nil {
		return size
	}
	return 1
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
