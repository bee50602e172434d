// Package table bounds the tables that are made of data, as CSV or in documents, and guards their cells. A table whose rows have ever new columns has
// rows × columns cells: 1 MiB of data can make a table of many gigabytes.
package table

import (
	"bytes"
	"errors"
	"fmt"
)

// The bounds of a table. Spreadsheets take as many columns.
const (
	MaxColumns = 1 << 14
	MaxCells   = 1 << 22 // rows × columns, the header included
	MaxBytes   = 64 << 20
	// MaxMarkdownCells are those of all tables of a Markdown text, of which a reader keeps each in memory.
	MaxMarkdownCells = 1 << 19
)

// ErrTooLarge reports a table beyond a bound. The error that wraps it names the bound.
var ErrTooLarge = errors.New("the table is too large")

// A Size is what a table will have, which is known before it is made.
type Size struct {
	Rows, Columns int
	Bytes         int // of the text in its cells
}

// Check fails with ErrTooLarge when a table of this size must not be made. Call it before any row is filled up to the
// columns of the others.
func (s Size) Check() error {
	switch {
	case s.Columns > MaxColumns:
		return fmt.Errorf("%w: it has more than %d columns; give its rows the same members", ErrTooLarge, MaxColumns)
	case s.Rows*s.Columns > MaxCells:
		return fmt.Errorf("%w: it has more than %d cells; divide it into several", ErrTooLarge, MaxCells)
	case s.Bytes+s.Rows*s.Columns > MaxBytes: // a separator for each cell
		return fmt.Errorf("%w: it has more than %d bytes; divide it into several", ErrTooLarge, MaxBytes)
	}
	return nil
}

// CheckMarkdown fails with ErrTooLarge when the tables of a Markdown text have more than MaxMarkdownCells, all
// together. A reader of Markdown fills each row up to the columns of its header. What it counts is at least what there is:
// the lines up to the next blank one are rows.
func CheckMarkdown(source []byte) error {
	cells, columns := 0, 0
	for line := range bytes.Lines(source) {
		switch bare := bytes.Trim(line, " \t\r\n>"); {
		case len(bare) == 0:
			columns = 0
		case isDelimiterRow(bare):
			columns = max(columns, 1+bytes.Count(bare, []byte{'|'}))
			cells += columns // the header
		default:
			cells += columns
		}
		if cells > MaxMarkdownCells {
			return fmt.Errorf("%w: the tables of the text have more than %d cells; divide the text", ErrTooLarge, MaxMarkdownCells)
		}
	}
	return nil
}

// isDelimiterRow reports whether a line may be the one between the header and the rows of a table, in a list or a quotation, too.
func isDelimiterRow(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|-: \t>*+.)0123456789")) == 0
}
