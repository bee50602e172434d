package eventloop

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestTimersStopped: what is taken back neither rings nor stays in memory, and
// the rest keeps its order.
func TestTimersStopped(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test repeats
	for range 200 {
		var a timers
		var rang, want []time.Duration
		var taken []*Timer
		for range random.IntN(40) {
			after := time.Duration(random.IntN(20))
			set := a.add(start.Add(after), func(time.Time) { rang = append(rang, after) })
			if random.IntN(2) == 0 {
				taken = append(taken, set)
			} else {
				want = append(want, after)
			}
		}
		for _, set := range taken {
			a.stop(set)
			a.stop(set)
		}
		a.stop(nil)
		if len(a.heap) != len(want) {
			t.Fatalf("%d timers are kept, want %d", len(a.heap), len(want))
		}
		a.expire(start.Add(time.Second))
		slices.Sort(want)
		if !slices.Equal(rang, want) {
			t.Fatalf("rang %v, want %v", rang, want)
		}
	}
}
