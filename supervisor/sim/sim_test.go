package sim_test

import (
	"flag"
	"testing"

	"podium/supervisor/sim"
)

var (
	seeds = flag.Uint64("sim.n", 1000, "how many seeds to simulate")
	first = flag.Uint64("sim.seed", 1, "the first seed")
	dump  = flag.Bool("sim.dump", false, "print the ledger of a seed that fails")
)

// TestSimulation is X-03, G-33 and X-07 under every fault at once.
func TestSimulation(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+*seeds; seed++ {
		world := sim.New(seed)
		if violations := world.Run(); len(violations) > 0 {
			if *dump {
				world.Dump(t.Output())
			}
			t.Fatalf("seed %d (make sim N=1 SEED=%d):\n%q", seed, seed, violations)
		}
	}
}

// TestSameSeedSameLedger runs some seeds twice and compares every byte.
func TestSameSeedSameLedger(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+min(*seeds, 50); seed++ {
		one, two := sim.New(seed), sim.New(seed)
		one.Run()
		two.Run()
		if one.Digest() != two.Digest() {
			t.Fatalf("seed %d gave two different ledgers", seed)
		}
	}
}
