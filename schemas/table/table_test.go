package table_test

import (
	"errors"
	"strings"
	"testing"

	"podium/schemas/table"
)

// TestSizeIsBounded: columns, cells and bytes are bounded, each by itself, and a table at a bound may be made.
func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		size    table.Size
		allowed bool
	}{
		"nothing":               {table.Size{}, true},
		"an export":             {table.Size{Rows: 200_000, Columns: 20, Bytes: 8 << 20}, true},
		"all columns":           {table.Size{Rows: 1, Columns: table.MaxColumns}, true},
		"one column more":       {table.Size{Rows: 1, Columns: table.MaxColumns + 1}, false},
		"all cells":             {table.Size{Rows: table.MaxCells, Columns: 1}, true},
		"a column for each row": {table.Size{Rows: 5000, Columns: 5000, Bytes: 50_000}, false},
		"one cell more":         {table.Size{Rows: table.MaxCells + 1, Columns: 1}, false},
		"bytes":                 {table.Size{Rows: 1, Columns: 1, Bytes: table.MaxBytes}, false},
	} {
		if err := one.size.Check(); (err == nil) != one.allowed || err != nil && !errors.Is(err, table.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMarkdownTablesAreBounded: a header of many columns and short rows below it are refused wherever a table may stand; text
// without a table, and usual tables, are not.
func TestMarkdownTablesAreBounded(t *testing.T) {
	t.Parallel()
	wide := func(prefix string) string {
		return prefix + strings.Repeat("|", 15_000) + "\n" + prefix + strings.Repeat("|-", 15_000) + "|\n" + strings.Repeat(prefix+"a\n", 2000)
	}
	for name, one := range map[string]struct {
		source  string
		allowed bool
	}{
		"usual":       {"| a | b |\n|---|:-:|\n" + strings.Repeat("| 1 | 2 |\n", 50_000), true},
		"text":        {strings.Repeat("a | b | c\n", 100_000), true},
		"wide":        {wide(""), false},
		"quoted":      {wide("> "), false},
		"in a list":   {"1. " + wide("   "), false},
		"many of one": {strings.Repeat("|"+strings.Repeat("a|", 1000)+"\n"+strings.Repeat("|-", 1000)+"|\n1\n2\n3\n\n", 200), false},
	} {
		if err := table.CheckMarkdown([]byte(one.source)); (err == nil) != one.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
