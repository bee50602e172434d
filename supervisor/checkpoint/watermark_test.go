package checkpoint

import (
	"math/rand/v2"
	"testing"
)

// TestWatermarkWaitsForTheOldest: the watermark stands below the first input that is not
// dealt with, whatever came after it.
func TestWatermarkWaitsForTheOldest(t *testing.T) {
	t.Parallel()
	var w Watermark
	one, three, seven := w.Enter(1), w.Enter(3), w.Enter(7)
	w.Leave(three)
	if w.Value != 0 {
		t.Errorf("watermark %d above an input that is under way", w.Value)
	}
	w.Leave(one)
	if w.Value != 3 {
		t.Errorf("watermark %d, want 3", w.Value)
	}
	w.Leave(seven)
	if w.Value != 7 || w.Read != 7 || len(w.entries) != 0 {
		t.Errorf("watermark %d with %d inputs under way", w.Value, len(w.entries))
	}
}

// TestWatermarkInAnyOrder: it never goes down, and ends at the newest input.
func TestWatermarkInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var w Watermark
		var entries []*Entry
		for sequence := range uint64(40) {
			entries = append(entries, w.Enter(2*sequence+1))
		}
		random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for i, e := range entries {
			before := w.Value
			w.Leave(e)
			oldest := uint64(81)
			for _, open := range entries[i+1:] {
				oldest = min(oldest, open.sequence)
			}
			want := uint64(0)
			if oldest > 1 {
				want = oldest - 2
			}
			if w.Value < before || w.Value != want {
				t.Fatalf("seed %d: watermark %d after %d, want %d", seed, w.Value, before, want)
			}
		}
	}
}
