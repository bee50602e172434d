package view

import (
	"slices"
	"testing"
)

// TestTurnsOfKeys: every key is one turn or none, however many are read at once; a key that
// is not known is not taken for the keys that its code is made of.
func TestTurnsOfKeys(t *testing.T) {
	t.Parallel()
	for read, want := range map[string][]turn{
		"": nil, " ": {forward}, "  b": {forward, forward, back}, "\x1b[6~\x1b[5~": {forward, back}, "\x1b": {follow}, " \x1b": {forward, follow},
		"\x1b[1;5f": nil, "\x1bOb": nil, "x\r\n\x00é日": nil, "\x1b[200~ \x1b[201~": {forward}, "\xff ": {forward}, "\x1b[": {follow},
	} {
		if turns := turnsOf([]byte(read)); !slices.Equal(turns, want) {
			t.Errorf("%q: %v, want %v", read, turns, want)
		}
	}
}

// TestPagesAreARing: with one key everything is seen, and then the work again.
func TestPagesAreARing(t *testing.T) {
	t.Parallel()
	page, seen := 0, []int{}
	for range 4 {
		page = turned(page, 3, forward)
		seen = append(seen, page)
	}
	for range 4 {
		page = turned(page, 3, back)
		seen = append(seen, page)
	}
	if want := []int{1, 2, 3, 0, 3, 2, 1, 0}; !slices.Equal(seen, want) || turned(2, 3, follow) != 0 || turned(0, 0, forward) != 0 {
		t.Errorf("it turns to %v", seen)
	}
}
