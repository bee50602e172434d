package sim_test

import (
	_ "embed"
	"flag"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podium/supervisor/sim"
)

var (
	seeds = flag.Uint64("sim.n", 1000, "how many seeds to simulate")
	first = flag.Uint64("sim.seed", 1, "the first seed")
	dump  = flag.Bool("sim.dump", false, "print the ledger of a seed that fails")
)

//go:embed testdata/seeds.txt
var regressions string

func simulate(t *testing.T, seed uint64) {
	t.Helper()
	world := sim.New(seed)
	violations := world.Run()
	if len(violations) == 0 {
		return
	}
	if *dump {
		world.Dump(t.Output())
	}
	t.Errorf("seed %d (make sim N=1 SEED=%d):\n%q", seed, seed, violations)
}

// TestSimulation is X-03, G-33 and X-07 under every fault at once.
func TestSimulation(t *testing.T) {
	t.Parallel()
	var next atomic.Uint64
	next.Store(*first)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < *first+*seeds && !t.Failed(); seed = next.Add(1) - 1 {
				simulate(t, seed)
			}
		})
	}
	workers.Wait()
}

// TestRegressions repeats every seed that has found a bug.
func TestRegressions(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(regressions) {
		number, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seed, err := strconv.ParseUint(number, 10, 64); err == nil {
			simulate(t, seed)
		} else if !strings.HasPrefix(line, "#") {
			t.Errorf("%q begins with no seed", line)
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
