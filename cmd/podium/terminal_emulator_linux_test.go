package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// An emulation is what a terminal shows of what is written to it (ECMA-48 and xterm's
// private modes). A sequence that it does not know, such as a question, is an error: nobody
// would read the answer.
type emulation struct {
	columns, rows int
	main, other   sheet
	alternate     bool
	hidden        bool // the cursor
	wraps         bool
	raw           []byte
	rest          []byte // of a character or sequence that is not complete yet
}

// A sheet is a screen, and what was scrolled out of it.
type sheet struct {
	lines    [][]string // cells; the second half of a wide character is empty
	gone     []string
	row, col int
}

func emulate(columns, rows int) *emulation {
	e := &emulation{columns: columns, rows: rows, wraps: true}
	e.main.lines, e.other.lines = make([][]string, rows), make([][]string, rows)
	return e
}

func (e *emulation) sheet() *sheet {
	if e.alternate {
		return &e.other
	}
	return &e.main
}

// resize changes the size as xterm does: what does not fit below goes up, and nothing is
// broken into other lines.
func (e *emulation) resize(columns, rows int) {
	for _, p := range []*sheet{&e.main, &e.other} {
		for len(p.lines) > rows && p.row < len(p.lines)-1 {
			p.lines = p.lines[:len(p.lines)-1]
		}
		for len(p.lines) > rows {
			p.scroll()
			p.lines, p.row = p.lines[:len(p.lines)-1], p.row-1
		}
		for len(p.lines) < rows {
			p.lines = append(p.lines, nil)
		}
		p.col = min(p.col, columns-1)
	}
	e.columns, e.rows = columns, rows
}

func (p *sheet) scroll() {
	p.gone = append(p.gone, lineOf(p.lines[0]))
	p.lines = append(slices.Delete(p.lines, 0, 1), nil)
}

func lineOf(cells []string) string { return strings.TrimRight(strings.Join(cells, ""), " ") }

var sequence = regexp.MustCompile(`^\x1b\[(\??)([0-9;]*)([A-Za-z])`)

// Write implements io.Writer.
func (e *emulation) Write(written []byte) (int, error) {
	e.raw = append(e.raw, written...)
	rest := append(e.rest, written...)
	for len(rest) > 0 && utf8.FullRune(rest) {
		if rest[0] == '\x1b' {
			found := sequence.FindSubmatch(rest)
			if found == nil && len(rest) < 16 {
				break
			}
			if found == nil {
				return 0, fmt.Errorf("unknown to the terminal: %q", rest[:16])
			}
			if err := e.command(string(found[1])+string(found[3]), string(found[2])); err != nil {
				return 0, err
			}
			rest = rest[len(found[0]):]
			continue
		}
		r, size := utf8.DecodeRune(rest)
		if err := e.character(r); err != nil {
			return 0, err
		}
		rest = rest[size:]
	}
	e.rest = slices.Clone(rest)
	return len(written), nil
}

func (e *emulation) character(r rune) error {
	p := e.sheet()
	width := ansi.StringWidthWc(string(r))
	switch {
	case r == '\r':
		p.col = 0
	case r == '\n' && p.row == e.rows-1:
		p.scroll()
	case r == '\n':
		p.row++
	case r < ' ' || r == 0x7f:
		return fmt.Errorf("a control character: %q", r)
	case width == 0:
		if p.col > 0 {
			p.lines[p.row][p.col-1] += string(r)
		}
	default:
		if p.col+width > e.columns && e.wraps {
			p.col = 0
			_ = e.character('\n') // it is none of the errors
		}
		p.col = min(p.col, e.columns-width)
		for len(p.lines[p.row]) < p.col+width {
			p.lines[p.row] = append(p.lines[p.row], " ")
		}
		p.lines[p.row][p.col] = string(r)
		if width == 2 {
			p.lines[p.row][p.col+1] = ""
		}
		p.col += width
	}
	return nil
}

func (e *emulation) command(name, parameters string) error {
	p := e.sheet()
	count, _ := strconv.Atoi(parameters) // none is 0
	switch name + " " + parameters {
	case "?l 7", "?h 7":
		e.wraps = name == "?h"
		return nil
	case "?l 25", "?h 25":
		e.hidden = name == "?l"
		return nil
	case "?l 2026", "?h 2026":
		return nil
	case "?h 1049":
		e.alternate, e.other.lines = true, make([][]string, e.rows)
		return nil
	case "?l 1049":
		e.alternate = false
		return nil
	case "H ":
		p.row, p.col = 0, 0
		return nil
	case "J ":
		p.lines[p.row] = p.lines[p.row][:min(p.col, len(p.lines[p.row]))]
		for row := p.row + 1; row < e.rows; row++ {
			p.lines[row] = nil
		}
		return nil
	case "K ":
		p.lines[p.row] = p.lines[p.row][:min(p.col, len(p.lines[p.row]))]
		return nil
	}
	switch name {
	case "A":
		p.row = max(p.row-max(count, 1), 0)
	case "m":
	default:
		return fmt.Errorf("unknown to the terminal: %s with %q", name, parameters)
	}
	return nil
}

// shown is what is in the window.
func (e *emulation) shown() string {
	var b strings.Builder
	for _, line := range e.sheet().lines {
		b.WriteString(lineOf(line) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// kept is what one can scroll back to, and what the window shows when nobody draws.
func (e *emulation) kept() []string {
	kept := slices.Clone(e.main.gone)
	for _, line := range e.main.lines {
		kept = append(kept, lineOf(line))
	}
	for len(kept) > 0 && kept[len(kept)-1] == "" {
		kept = kept[:len(kept)-1]
	}
	return kept
}
