//go:build powercut

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"podium/schemas/workflow"
)

// `make powercut` says where the machine is.
var (
	powercutMachine = flag.String("powercut.machine", "", "the folder with kernel and initrd, as tools/machine/build makes it")
	powercutRounds  = flag.Int("powercut.rounds", 20, "how many rounds of cuts there are; 20 are every kind on every filesystem at every durability")
	powercutFirst   = flag.Int("powercut.first", 0, "the round to begin with")
	powercutSeed    = flag.Uint64("powercut.seed", 0, "what the moments of the cuts are drawn from; 0 is by the clock")
)

const (
	startLimit  = 3 * time.Minute // of the service, after whatever cut
	settleLimit = 8 * time.Minute // until nothing is open any more: some deadlines may have to pass
)

// A cutting is when the power is cut.
type cutting struct {
	name string
	at   func(*testbed, *testing.T)
}

func cuttings() []cutting {
	return []cutting{
		{"under load", (*testbed).underLoad},
		{"after a stop", (*testbed).afterStop},
		{"after kill -9", (*testbed).afterKill},
		{"at the roll of a block", (*testbed).atRoll},
		{"in the start after a cut", (*testbed).inStart},
	}
}

// A round is one cut of the power, and what it has cost.
type round struct {
	durability, filesystem string
	cutting                cutting

	chats, mails, runs int
	start, settled     time.Duration
	cost               verdict
	verified           bool
}

// roundOf spreads kinds, filesystems and durabilities: two in a row differ in
// durability, and twenty are all there are.
func roundOf(number int) *round {
	half := number / 2
	return &round{
		durability: []string{"fsync", "interval"}[number%2], filesystem: []string{"ext4", "xfs"}[(half+number)%2],
		cutting: cuttings()[half%len(cuttings())],
	}
}

// TestPowerCut: the power of a machine is cut in which the service works, while mails
// and chat messages come in, and while an agent outside, which remembers, does half of
// the work. At fsync nothing that was promised is lost and nothing is done twice. At
// both durabilities the service comes up by itself, nothing waits for ever, and the
// ledger verifies.
func TestPowerCut(t *testing.T) { //nolint:paralleltest // two of these machines would starve each other
	if *powercutMachine == "" {
		t.Fatal("there is no machine: run `make powercut`, which makes it")
	}
	seed := *powercutSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number does
	}
	t.Logf("%d rounds; again with -powercut.seed=%d", *powercutRounds, seed)
	random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // repeatable
	testbeds := map[string]*testbed{}
	var rounds []*round
	for number := *powercutFirst; number < *powercutFirst+*powercutRounds; number++ {
		r := roundOf(number)
		name := r.durability + " on " + r.filesystem
		if testbeds[name] == nil {
			testbeds[name] = newTestbed(t, random, r.durability, r.filesystem)
		}
		rounds = append(rounds, r)
		whole := t.Run(fmt.Sprintf("%d, %s, %s", number, name, r.cutting.name), func(t *testing.T) { testbeds[name].play(t, r) })
		testbeds[name].machine.cut()
		if !whole {
			delete(testbeds, name) // what failed once would fail again
		}
	}
	t.Logf("\n%s", tableOf(rounds))
}

// play cuts the power once, and holds the service to its promises.
func (b *testbed) play(t *testing.T, r *round) {
	t.Helper()
	if b.courier == nil {
		b.firstStart(t)
	}
	if !b.machine.running() {
		b.start(t)
	}
	b.comesUp(t)
	before := len(b.inquiries)
	ctx, cease := context.WithCancel(t.Context())
	ceased := b.load(ctx, t, r.cutting.name == "at the roll of a block")
	r.cutting.at(b, t)
	b.machine.cut()
	cease()
	ceased()
	for _, q := range b.inquiries[before:] {
		switch {
		case q.mail:
			r.mails++
		case q.promised:
			r.chats++
		}
	}
	cut := time.Now()
	b.mail(t) // while the power is off
	b.start(t)
	b.comesUp(t)
	r.start = time.Since(cut)
	evidence := b.settle(t, r, cut)
	r.settled = time.Since(cut)
	r.runs = len(evidence.runs)
	r.cost = b.news(evidence.judge())
	r.verified = b.verifies(t)
	b.hold(t, r)
}

// news leaves out what an earlier round has found.
func (b *testbed) news(v verdict) verdict {
	for _, found := range []*[]string{&v.lost, &v.twice, &v.failed, &v.late, &v.wrong, &v.doubts} {
		var fresh []string
		for _, one := range *found {
			if !b.found[one] {
				b.found[one] = true
				fresh = append(fresh, one)
			}
		}
		*found = fresh
	}
	return v
}

// hold fails the round for what must never be.
func (b *testbed) hold(t *testing.T, r *round) {
	t.Helper()
	for _, kind := range []struct {
		name  string
		found []string
		never bool
	}{
		{"lost", r.cost.lost, r.durability == "fsync"},
		{"twice", r.cost.twice, r.durability == "fsync"},
		{"wrong", r.cost.wrong, r.durability == "fsync"},
		{"failed", r.cost.failed, true},
		{"late", r.cost.late, r.durability == "fsync"}, // at interval the past of a day comes back, with deadlines that are over
		{"waits", r.cost.waiting, true},
		{"in doubt, and told", r.cost.doubts, false},
	} {
		for i, one := range kind.found {
			switch {
			case i == 10:
				t.Logf("%s: and %d more", kind.name, len(kind.found)-i)
			case i > 10:
			case kind.never:
				t.Errorf("%s: %s", kind.name, one)
			default:
				t.Logf("%s: %s", kind.name, one)
			}
		}
	}
	t.Logf("up %s after the cut, settled after %s", r.start.Round(100*time.Millisecond), r.settled.Round(100*time.Millisecond))
}

// verifies decides the ledger again, in the machine.
func (b *testbed) verifies(t *testing.T) bool {
	t.Helper()
	printed, code, err := b.machine.run(t.Context(), "podium replay --data /data/podium --verify")
	if err != nil || code != exitOK {
		t.Errorf("replay --verify: exit code %d, %v\n%s\n%s", code, err, printed, tail(b.machine.console.String()))
	}
	return err == nil && code == exitOK
}

func tableOf(rounds []*round) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "durability\tfilesystem\tcut\tchats\tmails\truns\tlost\ttwice\twrong\tfailed\tlate\twaiting\tdoubts\tup\tsettled\tverified")
	sum := round{}
	for _, r := range rounds {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0fs\t%.0fs\t%t\n", r.durability, r.filesystem, r.cutting.name,
			r.chats, r.mails, r.runs, len(r.cost.lost), len(r.cost.twice), len(r.cost.wrong), len(r.cost.failed), len(r.cost.late), len(r.cost.waiting), len(r.cost.doubts),
			r.start.Seconds(), r.settled.Seconds(), r.verified)
		sum.chats, sum.mails = sum.chats+r.chats, sum.mails+r.mails
	}
	_ = table.Flush()
	fmt.Fprintf(&text, "%d rounds, %d chat messages acknowledged before the cut, %d mails\n", len(rounds), sum.chats, sum.mails)
	return text.String()
}

// passes lets a random time pass.
func (b *testbed) passes(least, most time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), least+time.Duration(b.random.Int64N(int64(most-least))))
	defer stop()
	<-ctx.Done()
}

// underLoad cuts the power at any moment.
func (b *testbed) underLoad(t *testing.T) {
	t.Helper()
	b.passes(time.Second, 9*time.Second)
}

// afterStop cuts the power as soon as the service has stopped in order.
func (b *testbed) afterStop(t *testing.T) {
	t.Helper()
	b.passes(time.Second, 6*time.Second)
	code := b.machine.does(t, `kill -TERM $(cat /tmp/service); while [ ! -e /tmp/ended ]; do sleep 0.05; done; cat /tmp/ended`)
	if strings.TrimSpace(code) != "0" {
		t.Errorf("told to stop, it ends with exit code %s\n%s", code, tail(b.machine.console.String()))
	}
}

// afterKill cuts the power a moment after the service was killed.
func (b *testbed) afterKill(t *testing.T) {
	t.Helper()
	b.passes(time.Second, 6*time.Second)
	b.machine.does(t, `kill -KILL $(cat /tmp/service)`)
	b.passes(0, 2*time.Second)
}

// atRoll cuts the power as soon as a stream of the ledger has begun a new block.
func (b *testbed) atRoll(t *testing.T) {
	t.Helper()
	const blocks = `find /data/podium/ledger -path '*/streams/PODIUM_*' -name '*.blk' | sort | tail -n 1000 | md5sum`
	b.machine.does(t, `all=$(`+blocks+`); while [ "$all" = "$(`+blocks+`)" ]; do :; done`)
}

// inStart cuts the power while the service comes up from another cut.
func (b *testbed) inStart(t *testing.T) {
	t.Helper()
	b.passes(time.Second, 6*time.Second)
	b.machine.cut()
	b.start(t)
	b.passes(0, 14*time.Second)
}

// open returns the runs that have not ended.
func open(runs []workflow.RunHistory) (open int) {
	for i := range runs {
		if runs[i].Phase != workflow.PhaseComplete {
			open++
		}
	}
	return open
}

func (b *testbed) disk(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%s-%d.disk", b.durability, b.filesystem, b.random.Uint32()))
}
