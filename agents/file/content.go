package file

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/table"
)

// inputSchema is that of the arguments; without any, what other tasks have made is written, or the words.
const inputSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "text": {"type": "string"},
    "data": {}
  }
}`

var (
	errNothing = errors.New("there is nothing to write")
	errNoTable = errors.New("the data are no table")
)

// contentFor is what is written under a name.
func contentFor(request *agent.Request, name string) ([]byte, error) {
	told := &request.Task().Context
	var given struct {
		Text string         `json:"text"`
		Data jsontext.Value `json:"data"`
	}
	if len(told.Arguments) > 0 {
		if err := schemas.Unmarshal(told.Arguments, &given); err != nil {
			return nil, errNothing
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return tableOf(dataOf(told, given.Data))
	case ".json":
		return indented(dataOf(told, given.Data))
	}
	text := given.Text
	for _, id := range slices.Sorted(maps.Keys(told.Inputs)) {
		if made := strings.TrimSpace(told.Inputs[id].Text); given.Text == "" && made != "" {
			text = strings.TrimLeft(text+"\n\n"+made, "\n")
		}
	}
	if text == "" {
		text = told.Request
	}
	if text = strings.TrimRight(text, " \t\r\n"); text == "" {
		return nil, errNothing
	}
	return []byte(text + "\n"), nil
}

// dataOf are the data of the arguments, else of the only task that has any, else of all, by task.
func dataOf(told *schemas.TaskContext, given jsontext.Value) jsontext.Value {
	if len(given) > 0 {
		return given
	}
	all := map[string]jsontext.Value{}
	for id := range told.Inputs {
		if len(told.Inputs[id].Data) > 0 {
			all[id] = told.Inputs[id].Data
		}
	}
	if len(all) == 0 {
		return nil
	}
	if len(all) == 1 {
		for _, only := range all {
			return only
		}
	}
	body, err := schemas.Marshal(all)
	if err != nil {
		return nil // it has been JSON before
	}
	return body
}

// indented is data with a line for each value. What would be more than table.MaxBytes with its indents has none: each level of
// nesting adds a byte to each line inside it.
func indented(data jsontext.Value) ([]byte, error) {
	if len(data) == 0 {
		return nil, errNothing
	}
	size := len(data)
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	for size <= table.MaxBytes {
		if _, err := decoder.ReadToken(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		size += 1 + decoder.StackDepth()
	}
	written := data.Clone()
	if size <= table.MaxBytes {
		if err := written.Indent(); err != nil {
			return nil, err
		}
	}
	return append(written, '\n'), nil
}

// tableOf is an array of objects, or of arrays, as CSV (RFC 4180). The columns of objects are their members, in the order in which
// they first appear. How large it becomes is known, and bounded, before any row is filled up to the columns of the others.
func tableOf(data jsontext.Value) ([]byte, error) {
	if len(data) == 0 {
		return nil, errNothing
	}
	if data.Kind() == '{' {
		data = slices.Concat(jsontext.Value("["), data, jsontext.Value("]"))
	}
	var rows []jsontext.Value
	if schemas.Unmarshal(data, &rows) != nil || len(rows) == 0 {
		return nil, errNoTable
	}
	columns, size, err := measure(rows)
	if err == nil {
		err = size.Check()
	}
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	writer := csv.NewWriter(&text)
	if len(columns.names) > 0 {
		header := make([]string, len(columns.names))
		for i, name := range columns.names {
			header[i] = table.Guard(name)
		}
		if err := writer.Write(header); err != nil {
			return nil, err
		}
	}
	var cells []string
	for _, row := range rows {
		cells = cells[:0]
		err := eachCell(row, func(n int, name string, value jsontext.Value) error {
			at := n
			if row.Kind() == '{' {
				at = columns.at[name]
			}
			for len(cells) <= at {
				cells = append(cells, "")
			}
			cells[at] = cell(value)
			return nil
		})
		if err = errors.Join(err, writer.Write(cells)); err != nil {
			return nil, err
		}
	}
	writer.Flush()
	return text.Bytes(), writer.Error()
}

// columns are those of a table of objects: its members.
type columns struct {
	names []string
	at    map[string]int
}

// measure returns the columns of rows, which are all objects or all arrays, and the size of their table. It fails as soon as
// that has too many columns.
func measure(rows []jsontext.Value) (columns, table.Size, error) {
	found := columns{at: map[string]int{}}
	size := table.Size{Rows: len(rows)}
	for _, row := range rows {
		if row.Kind() != rows[0].Kind() {
			return found, size, errNoTable
		}
		size.Bytes += len(row)
		err := eachCell(row, func(n int, name string, _ jsontext.Value) error {
			if row.Kind() == '[' {
				size.Columns = max(size.Columns, n+1)
			} else if _, known := found.at[name]; !known {
				found.at[name] = len(found.names)
				found.names = append(found.names, name)
				size.Columns = len(found.names)
			}
			if size.Columns > table.MaxColumns {
				return size.Check()
			}
			return nil
		})
		if err != nil {
			return found, size, err
		}
	}
	if len(found.names) > 0 {
		size.Rows++ // the header
	}
	return found, size, nil
}

// eachCell calls a function for each value of a row, with its number and, in an object, its name.
func eachCell(row jsontext.Value, visit func(n int, name string, value jsontext.Value) error) error {
	if row.Kind() != '{' && row.Kind() != '[' {
		return errNoTable
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(row))
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for n := 0; decoder.PeekKind() != '}' && decoder.PeekKind() != ']'; n++ {
		var name string
		if row.Kind() == '{' {
			read, err := decoder.ReadToken()
			if err != nil {
				return err
			}
			name = read.String()
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if err := visit(n, name, value); err != nil {
			return err
		}
	}
	return nil
}

// cell is a value in a table. Numbers stay numbers, also negative ones.
func cell(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		var text string
		if schemas.Unmarshal(value, &text) != nil {
			return ""
		}
		return table.Guard(text)
	case 'n':
		return ""
	}
	if value.Kind() == '{' || value.Kind() == '[' {
		return table.Guard(string(value))
	}
	return string(value)
}
