package answer

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// fileOf returns data as a file: a table when it is a list of objects that hold nothing but texts, numbers,
// true and false, else JSON.
func fileOf(data jsontext.Value, root value, name string) *schemas.DataFile {
	if table, is := tableOf(root); is {
		return &schemas.DataFile{Name: name + ".csv", MediaType: "text/csv", Text: table}
	}
	indented := slices.Clone(data)
	if err := indented.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil
	}
	return &schemas.DataFile{Name: name + ".json", MediaType: schemas.MediaTypeJSON, Text: string(indented) + "\n"}
}

// tableOf writes a list of flat objects, or the only list of such that an object holds, as CSV
// (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe.
func tableOf(root value) (string, bool) {
	if root.kind == '{' && len(root.members) == 1 {
		root = root.members[0]
	}
	if root.kind != '[' || len(root.members) == 0 {
		return "", false
	}
	var columns []string
	for i := range root.members {
		row := &root.members[i]
		if row.kind != '{' {
			return "", false
		}
		for j, name := range row.names {
			if kind := row.members[j].kind; kind == '{' || kind == '[' {
				return "", false
			}
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	var text strings.Builder
	writer := csv.NewWriter(&text)
	writer.UseCRLF = true
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = harmless(name, '"')
	}
	if writer.Write(cells) != nil {
		return "", false
	}
	for i := range root.members {
		for j, name := range columns {
			cell := root.members[i].member(name)
			cells[j] = harmless(written(cell), cell.kind)
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

// harmless keeps a spreadsheet from taking a text for a formula; numbers are none.
func harmless(cell string, kind jsontext.Kind) string {
	if kind == '"' && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
