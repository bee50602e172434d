package keyboard

import (
	"slices"
	"testing"
)

// TestTurnsOfKeys: every key is one turn or none, however many are read at once; a key that
// is not known is not taken for the keys that its code is made of.
func TestTurnsOfKeys(t *testing.T) {
	t.Parallel()
	for read, want := range map[string][]Turn{
		"": nil, " ": {Forward}, "  b": {Forward, Forward, Back}, "\x1b[6~\x1b[5~": {Forward, Back}, "\x1b": {Follow}, " \x1b": {Forward, Follow},
		"\x1b[1;5f": nil, "\x1bOb": nil, "x\r\n\x00é日": nil, "\x1b[200~ \x1b[201~": {Forward}, "\xff ": {Forward}, "\x1b[": {Follow},
	} {
		if turns := turnsOf([]byte(read)); !slices.Equal(turns, want) {
			t.Errorf("%q: %v, want %v", read, turns, want)
		}
	}
}
