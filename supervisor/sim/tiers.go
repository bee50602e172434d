package sim

import (
	"math/rand/v2"
	"time"

	"podium/schemas"
)

// tiers are what a world has in which a supervisor gives places back; nil is a world without.
type tiers struct{ rand *rand.Rand }

// newTiers returns those of the world of a seed.
func newTiers(seed uint64) *tiers {
	return &tiers{source(seed, tierStream)}
}

// declare says in profiles that an agent is a supervisor, which has most of the work of whoever asks it, and time for
// it. One that promises signs of life gives fewer than it says while it waits. In some worlds it says so and is none.
func (t *tiers) declare(sources []schemas.Profile, supervisor string) {
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

// places is how many requests the supervisor works on at a time; size is what another world would have.
func (t *tiers) places(size int) int {
	if t == nil {
		return size
	}
	return 1
}
