package supervisor

import (
	"slices"
	"testing"
)

// TestLongReads: one message is read at a time, the shortest of those that wait first, and of one size the one that came first.
func TestLongReads(t *testing.T) {
	t.Parallel()
	var line longReads
	var order []int
	for i, size := range []int64{100, 30, 10, 20, 10} {
		line.enter(size, func() { order = append(order, i) })
	}
	for range 5 {
		line.leave()
	}
	line.enter(1, func() { order = append(order, 5) })
	if want := []int{0, 2, 4, 3, 1, 5}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}
