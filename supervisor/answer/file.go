package answer

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/table"
)

// Bounds of files.
const (
	maxFile    = 1 << 20 // bytes
	maxColumns = 64
	maxIndent  = 8 // levels: beyond, there would be more spaces than data
)

// fileOf returns data as a file: a table when it is a list of objects that hold nothing but texts, numbers,
// true and false, else JSON. It is nil when the data is too large for one.
func (words Words) fileOf(data jsontext.Value, root value, name string) *schemas.DataFile {
	if len(data) > maxFile {
		return nil
	}
	if table, is := words.tableOf(root); is {
		return &schemas.DataFile{Name: name + ".csv", MediaType: "text/csv", Text: table}
	}
	written := slices.Clone(data)
	if root.depth() <= maxIndent {
		if err := written.Indent(jsontext.WithIndent("  ")); err != nil {
			return nil
		}
	}
	return &schemas.DataFile{Name: name + ".json", MediaType: schemas.MediaTypeJSON, Text: string(written) + "\n"}
}

// depth is how deep a value is nested.
func (v *value) depth() int {
	deepest := 0
	for i := range v.members {
		deepest = max(deepest, 1+v.members[i].depth())
	}
	return deepest
}

// tableOf writes a list of flat objects, or the only list of such that an object holds, as CSV
// (RFC 4180). What a spreadsheet would take for a formula has an apostrophe before it.
func (words Words) tableOf(root value) (string, bool) {
	if root.kind == '{' && len(root.members) == 1 {
		root = root.members[0]
	}
	if root.kind != '[' || len(root.members) == 0 {
		return "", false
	}
	var columns []string
	places := map[string]int{}
	for i := range root.members {
		row := &root.members[i]
		if row.kind != '{' {
			return "", false
		}
		for j, name := range row.names {
			if kind := row.members[j].kind; kind == '{' || kind == '[' {
				return "", false
			}
			if _, known := places[name]; !known {
				places[name] = len(columns)
				columns = append(columns, name)
			}
		}
		if len(columns) > maxColumns {
			return "", false // it is no table
		}
	}
	if (table.Size{Rows: 1 + len(root.members), Columns: len(columns)}).Check() != nil {
		return "", false
	}
	var text strings.Builder
	writer := csv.NewWriter(&text)
	writer.UseCRLF = true
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = guarded(name, '"')
	}
	if writer.Write(cells) != nil {
		return "", false
	}
	for i := range root.members {
		row := &root.members[i]
		clear(cells)
		for j, name := range row.names {
			cell := &row.members[j]
			cells[places[name]] = guarded(written(cell), cell.kind)
		}
		if writer.Write(cells) != nil {
			return "", false
		}
	}
	writer.Flush()
	return text.String(), writer.Error() == nil
}

func written(cell *value) string {
	switch cell.kind {
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return cell.text
}

// guarded keeps a spreadsheet from taking a text for a formula; numbers are none.
func guarded(cell string, kind jsontext.Kind) string {
	if kind != '"' || cell == "" {
		return cell
	}
	return table.Guard(cell)
}
