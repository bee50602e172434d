package view

import (
	"fmt"

	"podium/cmd/podium/keyboard"
)

// turned returns the page after a turn, of so many. Page 0 is the window that follows the work; the pages are a ring with it.
func turned(page, pages int, to keyboard.Turn) int {
	switch to {
	case keyboard.Forward:
		return (page + 1) % (pages + 1)
	case keyboard.Back:
		return (page + pages) % (pages + 1)
	case keyboard.Follow:
	}
	return 0
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
