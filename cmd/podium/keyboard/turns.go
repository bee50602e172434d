// Package keyboard reads what somebody asks for by keys while a terminal is drawn on.
package keyboard

import "regexp"

// A Turn is what a key asks for.
type Turn int

// The turns: to the next page, to the one before, or to what follows the work.
const (
	Forward Turn = iota
	Back
	Follow
)

// key is what the terminal sends for one key: a control sequence (ECMA-48), or a byte.
var key = regexp.MustCompile(`^(?:\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|(?s:.))`)

// turnsOf returns what the keys ask for that were read at once: those of the pagers that
// everybody knows, PageDown and PageUp.
func turnsOf(read []byte) (turns []Turn) {
	for len(read) > 0 {
		pressed := key.Find(read)
		read = read[len(pressed):]
		switch string(pressed) {
		case " ", "f", "\x1b[6~":
			turns = append(turns, Forward)
		case "b", "\x1b[5~":
			turns = append(turns, Back)
		case "\x1b":
			turns = append(turns, Follow)
		}
	}
	return turns
}
