package view

import (
	"slices"
	"testing"

	"podium/cmd/podium/keyboard"
)

// TestPagesAreARing: with one key everything is seen, and then the work again.
func TestPagesAreARing(t *testing.T) {
	t.Parallel()
	page, seen := 0, []int{}
	for range 4 {
		page = turned(page, 3, keyboard.Forward)
		seen = append(seen, page)
	}
	for range 4 {
		page = turned(page, 3, keyboard.Back)
		seen = append(seen, page)
	}
	if want := []int{1, 2, 3, 0, 3, 2, 1, 0}; !slices.Equal(seen, want) || turned(2, 3, keyboard.Follow) != 0 || turned(0, 0, keyboard.Forward) != 0 {
		t.Errorf("it turns to %v", seen)
	}
}
