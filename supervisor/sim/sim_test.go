package sim_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/supervisor/sim"
)

var (
	seeds = flag.Uint64("sim.n", 500, "how many seeds to simulate")
	first = flag.Uint64("sim.seed", 1, "the first seed")
	dump  = flag.Bool("sim.dump", false, "print the ledger of a seed that fails")
	all   = flag.Bool("sim.all", false, "go on after a seed that fails")
	kind  = flag.String("sim.kind", "", "the kind of all worlds, as kinds.go has them: people, reviews and so on; none is what each seed says")
)

//go:embed testdata/seeds.txt
var regressions string

// TestMain lets the heap grow up to a limit: worlds are short-lived.
func TestMain(m *testing.M) {
	flag.Parse()
	if !known(sim.Kind(*kind)) {
		_, _ = fmt.Fprintf(os.Stderr, "sim: no world is of the kind %q, but of %v\n", *kind, sim.Kinds())
		os.Exit(2)
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1536 << 20) // the compiled profiles of a library stay: half of it
	os.Exit(m.Run())
}

// world is that of a seed, of the kind that is asked for.
func world(seed uint64, library *sim.Library) *sim.World {
	return sim.New(seed, sim.Kind(*kind), library)
}

func simulate(t *testing.T, simulated *sim.World) {
	t.Helper()
	seed := simulated.Seed
	violations := simulated.Run()
	if len(violations) == 0 {
		return
	}
	if *dump {
		simulated.Dump(t.Output())
	}
	again := fmt.Sprintf("make sim N=1 SEED=%d", seed)
	if simulated.Kind != sim.OfSeed {
		again += " KIND=" + string(simulated.Kind)
	}
	for _, violation := range violations[:min(len(violations), 5)] {
		t.Errorf("seed %d (%s): %s: %s", seed, again, violation.Invariant, violation.Detail)
	}
}

// TestSimulation is X-03, G-33 and X-07 under every fault at once.
func TestSimulation(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	var next, done atomic.Uint64
	next.Store(*first)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < *first+*seeds && (*all || !t.Failed()); seed = next.Add(1) - 1 {
				simulate(t, world(seed, library))
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	for tick := time.NewTicker(10 * time.Second); ; {
		select {
		case <-finished:
			tick.Stop()
			return
		case <-tick.C:
			t.Logf("%d of %d seeds", done.Load(), *seeds)
		}
	}
}

func known(kind sim.Kind) bool { return kind == sim.OfSeed || slices.Contains(sim.Kinds(), kind) }

// TestRegressions repeats every seed that has found a bug.
func TestRegressions(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	for line := range strings.Lines(regressions) {
		number, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		of, number, named := strings.Cut(number, ":")
		if !named {
			of, number = "", of
		}
		seed, err := strconv.ParseUint(number, 10, 64)
		if err == nil && known(sim.Kind(of)) {
			simulate(t, sim.New(seed, sim.Kind(of), library))
		} else if !strings.HasPrefix(line, "#") {
			t.Errorf("%q begins with no seed", line)
		}
	}
}

// TestSameSeedSameLedger runs some seeds twice and compares every byte.
func TestSameSeedSameLedger(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	for seed := *first; seed < *first+min(*seeds, 50); seed++ {
		one, two := world(seed, library), world(seed, library)
		one.Run()
		two.Run()
		if one.Digest() != two.Digest() {
			t.Fatalf("seed %d gave two different ledgers", seed)
		}
	}
}

// TestEveryEffect puts every flaw at every effect of some small worlds, one at a
// time, until there are no more effects.
func TestEveryEffect(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	for seed := range uint64(struckWorlds) {
		for _, flaw := range sim.Flaws() {
			for n, effects := int64(1), int64(1); n <= effects; n++ {
				world := sim.New(seed, sim.OfSeed, library)
				world.Strike(n, flaw)
				for _, violation := range world.Run() {
					t.Errorf("seed %d, flaw %d at effect %d: %s: %s", seed, flaw, n, violation.Invariant, violation.Detail)
				}
				effects = world.Effects()
			}
		}
	}
}

// struckWorlds is how many worlds are struck at every effect.
const struckWorlds = 3
