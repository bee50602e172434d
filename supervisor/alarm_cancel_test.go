package supervisor

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestAlarmsCancelled: what is taken back neither rings nor stays in memory, and
// the rest keeps its order.
func TestAlarmsCancelled(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test repeats
	for range 200 {
		var a alarms
		var rang, want []time.Duration
		var taken []*alarm
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
			a.cancel(set)
			a.cancel(set)
		}
		a.cancel(nil)
		if len(a.heap) != len(want) {
			t.Fatalf("%d alarms are kept, want %d", len(a.heap), len(want))
		}
		a.ring(start.Add(time.Second))
		slices.Sort(want)
		if !slices.Equal(rang, want) {
			t.Fatalf("rang %v, want %v", rang, want)
		}
	}
}
