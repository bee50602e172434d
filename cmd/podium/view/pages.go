package view

import (
	"fmt"
	"regexp"
)

// A turn is what a key asks for.
type turn int

// The turns. Page 0 is the window that follows the work; the pages are a ring with it.
const (
	forward turn = iota
	back
	follow
)

// turned returns the page after a turn, of so many.
func turned(page, pages int, to turn) int {
	switch to {
	case forward:
		return (page + 1) % (pages + 1)
	case back:
		return (page + pages) % (pages + 1)
	case follow:
	}
	return 0
}

// key is what the terminal sends for one key: a control sequence (ECMA-48), or a byte.
var key = regexp.MustCompile(`^(?:\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|(?s:.))`)

// turnsOf returns what the keys ask for that were read at once: those of the pagers that
// everybody knows, PageDown and PageUp.
func turnsOf(read []byte) (turns []turn) {
	for len(read) > 0 {
		pressed := key.Find(read)
		read = read[len(pressed):]
		switch string(pressed) {
		case " ", "f", "\x1b[6~":
			turns = append(turns, forward)
		case "b", "\x1b[5~":
			turns = append(turns, back)
		case "\x1b":
			turns = append(turns, follow)
		}
	}
	return turns
}

// pagesOf returns how many pages the rows have when there is room for so many on each.
func (d *drawing) pagesOf(room int) int { return (len(d.rows) + room - 1) / room }

// page chooses the rows of a page, the first of which is 1.
func (d *drawing) page(number, room int) []bool {
	chosen := make([]bool, len(d.rows))
	for i := (number - 1) * room; i < min(number*room, len(d.rows)); i++ {
		chosen[i] = true
	}
	return chosen
}

// footer says what is not in the window, or which page this is, and the keys.
func (p Picture) footer(left string, pages int) string {
	said := "  …"
	switch {
	case p.Page > 0:
		return fmt.Sprintf("  page %d of %d (Space: next, b: back, Esc: what is at work)", p.Page, pages)
	case p.Keys:
		said += fmt.Sprintf(" (Space: %d pages)", pages)
	case left == "":
		return ""
	}
	if left != "" {
		said += " not shown: " + left
	}
	return said
}
