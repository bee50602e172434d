package supervisor

import (
	"math/rand/v2"
	"testing"
)

// TestFloorWaitsForTheOldest: the floor stands below the first input that is not
// dealt with, whatever came after it.
func TestFloorWaitsForTheOldest(t *testing.T) {
	t.Parallel()
	var f floor
	one, three, seven := f.enter(1), f.enter(3), f.enter(7)
	f.leave(three)
	if f.value != 0 {
		t.Errorf("floor %d above an input that is under way", f.value)
	}
	f.leave(one)
	if f.value != 3 {
		t.Errorf("floor %d, want 3", f.value)
	}
	f.leave(seven)
	if f.value != 7 || f.read != 7 || len(f.entries) != 0 {
		t.Errorf("floor %d with %d inputs under way", f.value, len(f.entries))
	}
}

// TestFloorInAnyOrder: it never goes down, and ends at the newest input.
func TestFloorInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var f floor
		var entries []*entry
		for sequence := range uint64(40) {
			entries = append(entries, f.enter(2*sequence+1))
		}
		random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for i, e := range entries {
			before := f.value
			f.leave(e)
			oldest := uint64(81)
			for _, open := range entries[i+1:] {
				oldest = min(oldest, open.sequence)
			}
			want := uint64(0)
			if oldest > 1 {
				want = oldest - 2
			}
			if f.value < before || f.value != want {
				t.Fatalf("seed %d: floor %d after %d, want %d", seed, f.value, before, want)
			}
		}
	}
}
