package sim

import (
	"math/rand/v2"
	"time"

	"podium/supervisor/plan"
)

// A configuration is what a seed chooses for the whole of its world. Most worlds are
// small: a bug that needs many messages is rare, and small worlds can be many.
type configuration struct {
	shards   int
	steps    int     // of the part with faults
	threads  int     // sessions that a message may belong to
	rate     float64 // of flaws, for each effect of an owner
	trouble  int     // of 16 things that happen, those that concern all
	takeover float64 // of a new owner that crashes while it takes over
	unruly   int     // percent of requests that an agent does not just answer
	idle     int     // percent of their turns that agents do not use
	pool     int     // the largest pool of an agent
	skew     time.Duration
	bulk     bulk
	edited   bool          // somebody edits the profiles meanwhile
	demand   [adapters]int // how often each adapter is used

	permits  bool          // agents with effects outside ask before they act
	wait     time.Duration // of the bus, for an agent's sign of life
	shared   bool          // many tasks need what others need too
	groups   int           // processes of several owners that tell each other; 0 is none
	catchUp  time.Duration // that a new owner waits for what is on its way; 0 is the default
	hurry    time.Duration // the longest time in which nothing happens
	breaker  plan.BreakerPolicy
	absent   bool // owners look whether anybody serves an agent
	named    bool // garbage names the request that it answers
	formers  bool // shards are taken over from owners that live on
	crashes  bool // the ledger's server is killed, and has not written what was handed out last
	nameless bool // at times nobody can tell which server takes a message
}

// bulk is how large the words of people and agents may become.
type bulk int

const (
	bulkSmall bulk = iota
	bulkReferred
	bulkClaimed // larger than a message may be
)

const lateTraits = 0x6c6174c9fe

// late draws the traits that came last, from a source of their own: worlds without
// them are as they were, and those that are known to catch a planted bug have none.
func (c *configuration) late(seed uint64) {
	r := rand.New(rand.NewPCG(seed, lateTraits)) //nolint:gosec // a simulation repeats
	c.absent, c.named = once(r, 5), once(r, 3)
}

// newConfiguration draws what a world has always had from one source, and its traits from
// another, so that a new one leaves the worlds without it as they are.
func newConfiguration(r, traits *rand.Rand) configuration {
	c := configuration{
		shards: 1, steps: 12 + r.IntN(40), threads: 1 + r.IntN(3),
		rate: []float64{0, 0.02, 0.05, 0.05, 0.12}[r.IntN(5)], unruly: []int{0, 30, 55, 80}[r.IntN(4)],
	}
	switch r.IntN(40) {
	case 0:
		c.steps, c.threads = 100+r.IntN(120), 4
	case 1, 2, 3:
		c.steps = 50 + r.IntN(60)
	}
	if r.IntN(4) == 0 {
		c.shards = 2
	}
	switch r.IntN(40) {
	case 0:
		c.bulk = bulkClaimed
	case 1, 2, 3:
		c.bulk = bulkReferred
	}
	c.edited = r.IntN(10) == 0
	c.idle, c.pool = []int{0, 50, 90}[r.IntN(3)], []int{1, 1, 4}[r.IntN(3)]
	if r.IntN(3) == 0 {
		c.skew = 3 * time.Second
	}
	if c.rate > 0 {
		c.takeover, c.trouble = 0.3, []int{0, 1, 3}[r.IntN(3)]
	}
	for adapter := range c.demand {
		c.demand[adapter] = r.IntN(4)
	}
	c.demand[adapterChat]++
	c.permits, c.wait = once(traits, 3), 30*time.Second
	if c.permits && once(traits, 3) {
		c.wait = 6 * time.Second
	}
	if c.shared = once(traits, 4); c.shared {
		c.groups = traits.IntN(3)
		if once(traits, 2) {
			c.shards = 2 + traits.IntN(2)
		}
	}
	c.hurry = 4 * time.Second
	if once(traits, 5) { // a few messages close upon each other, and owners that look long
		c.hurry, c.catchUp, c.threads = 300*time.Millisecond, 8*time.Second, 1
		c.idle, c.pool, c.unruly, c.rate = 0, 4, pick(traits, 30, 55), pick(traits, 0, 0.02)
		c.trouble, c.steps = 3, min(2*c.steps, 120)
	}
	if once(traits, 4) {
		c.breaker = plan.BreakerPolicy{
			Failures: 2 + traits.IntN(2), Within: 30 * time.Second, Open: pick(traits, 5*time.Second, 20*time.Second),
		}
	}
	return c
}
