package sim_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
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
	asks  = flag.Bool("sim.people", false, "people are asked in all worlds")
	judge = flag.Bool("sim.judges", false, "plans are judged in all worlds")
	daily = flag.Bool("sim.days", false, "runs have budgets in all worlds, of days, too")
	spend = flag.Bool("sim.budgets", false, "runs have budgets in all worlds")
	look  = flag.Bool("sim.reviews", false, "what runs have made is reviewed in all worlds")
	mend  = flag.Bool("sim.recovery", false, "something is done about failures in all worlds")
	leave = flag.Bool("sim.leave", false, "answers wait for leave in all worlds")
	retry = flag.Bool("sim.retries", false, "runs are begun anew in all worlds")
	waits = flag.Bool("sim.upstream", false, "runs wait for a decision from upstream in all worlds")
	tiers = flag.Bool("sim.tiers", false, "a supervisor gives places back while it waits in all worlds")
	chats = flag.Bool("sim.threads", false, "people are asked in the threads of a chat in all worlds")
	mixed = flag.Bool("sim.mixed", false, "kinds of knobs meet in all worlds")
)

//go:embed testdata/seeds.txt
var regressions string

// TestMain lets the heap grow up to a limit: worlds are short-lived.
func TestMain(m *testing.M) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1536 << 20) // the compiled profiles of a library stay: half of it
	os.Exit(m.Run())
}

// world is that of a seed, of the kind that flags ask for.
func world(seed uint64, library *sim.Library) *sim.World {
	switch {
	case *asks:
		return sim.NewWithPeople(seed, library)
	case *daily:
		return sim.NewWithDays(seed, library)
	case *spend:
		return sim.NewWithBudgets(seed, library)
	case *judge:
		return sim.NewWithJudges(seed, library)
	case *look:
		return sim.NewWithReviews(seed, library)
	case *mend:
		return sim.NewWithRecovery(seed, library)
	case *retry:
		return sim.NewWithRetries(seed, library)
	case *leave:
		return sim.NewWithLeave(seed, library)
	case *waits:
		return sim.NewWithUpstream(seed, library)
	case *tiers:
		return sim.NewWithTiers(seed, library)
	case *chats:
		return sim.NewWithThreads(seed, library)
	case *mixed:
		return sim.NewMixed(seed, library)
	}
	return sim.New(seed, library)
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
	if *asks {
		again += " PEOPLE=1"
	}
	if *judge {
		again += " JUDGES=1"
	}
	if *daily {
		again += " DAYS=1"
	}
	if *spend {
		again += " BUDGETS=1"
	}
	if *look {
		again += " REVIEWS=1"
	}
	if *mend {
		again += " RECOVERY=1"
	}
	if *leave {
		again += " LEAVE=1"
	}
	if *retry {
		again += " RETRIES=1"
	}
	if *waits {
		again += " UPSTREAM=1"
	}
	if *tiers {
		again += " TIERS=1"
	}
	if *chats {
		again += " THREADS=1"
	}
	if *mixed {
		again += " MIXED=1"
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

// kinds are the worlds that a seed that is kept may be one of.
var kinds = map[string]func(uint64, *sim.Library) *sim.World{"": world, "days": sim.NewWithDays, "threads": sim.NewWithThreads, "upstream": sim.NewWithUpstream, "reviews": sim.NewWithReviews, "tiers": sim.NewWithTiers, "mixed": sim.NewMixed}

// TestRegressions repeats every seed that has found a bug.
func TestRegressions(t *testing.T) {
	t.Parallel()
	library := sim.NewLibrary()
	for line := range strings.Lines(regressions) {
		number, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, number, named := strings.Cut(number, ":")
		if !named {
			kind, number = "", kind
		}
		seed, err := strconv.ParseUint(number, 10, 64)
		if build := kinds[kind]; err == nil && build != nil {
			simulate(t, build(seed, library))
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
				world := sim.New(seed, library)
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
