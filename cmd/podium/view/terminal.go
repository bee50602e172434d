package view

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A Terminal is where a person reads, and what can be drawn on.
type Terminal struct {
	*os.File

	Colors bool // unless NO_COLOR is set (https://no-color.org)
}

// TerminalOf returns the terminal that an output goes to. It is nil when that goes
// elsewhere, or when the terminal can do no more than write one line after the other
// (TERM=dumb).
func TerminalOf(out io.Writer) *Terminal {
	if guard, ok := out.(*Guard); ok {
		out = guard.out
	}
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) || !understands(file) {
		return nil
	}
	return &Terminal{File: file, Colors: os.Getenv("NO_COLOR") == ""}
}

// size is how many columns and rows it has at the moment. One that does not say is
// taken for the smallest that is usual.
func (t *Terminal) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}
