package file

import (
	"bytes"
	"encoding/csv"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"podium/bus/agent"
	"podium/schemas"
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
		return table(dataOf(told, given.Data))
	case ".json":
		data := dataOf(told, given.Data).Clone()
		if len(data) == 0 {
			return nil, errNothing
		}
		if err := data.Indent(); err != nil {
			return nil, err
		}
		return append(data, '\n'), nil
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

// table is an array of objects, or of arrays, as CSV (RFC 4180). The columns of objects are their members, in the order in which they
// first appear.
func table(data jsontext.Value) ([]byte, error) {
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
	var lines [][]string
	var columns []string
	for _, row := range rows {
		if row.Kind() != rows[0].Kind() {
			return nil, errNoTable
		}
		line, err := rowOf(row, &columns)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	var text bytes.Buffer
	writer := csv.NewWriter(&text)
	if len(columns) > 0 {
		header := make([]string, len(columns))
		for i := range columns {
			header[i] = harmless(columns[i])
		}
		lines = slices.Insert(lines, 0, header)
	}
	if err := writer.WriteAll(lines); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// rowOf reads one row. New members of an object are new columns.
func rowOf(row jsontext.Value, columns *[]string) ([]string, error) {
	var cells []string
	switch row.Kind() {
	case '[':
		var values []jsontext.Value
		if err := schemas.Unmarshal(row, &values); err != nil {
			return nil, errNoTable
		}
		for _, value := range values {
			cells = append(cells, cell(value))
		}
	case '{':
		decoder := jsontext.NewDecoder(bytes.NewReader(row))
		if _, err := decoder.ReadToken(); err != nil {
			return nil, err
		}
		for decoder.PeekKind() == '"' {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			column := name.String()
			value, err := decoder.ReadValue()
			if err != nil {
				return nil, err
			}
			at := slices.Index(*columns, column)
			if at < 0 {
				at, *columns = len(*columns), append(*columns, column)
			}
			for len(cells) <= at {
				cells = append(cells, "")
			}
			cells[at] = cell(value)
		}
	default:
		return nil, errNoTable
	}
	return cells, nil
}

// cell is a value in a table. Numbers stay numbers, also negative ones.
func cell(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		var text string
		if schemas.Unmarshal(value, &text) != nil {
			return ""
		}
		return harmless(text)
	case 'n':
		return ""
	}
	if value.Kind() == '{' || value.Kind() == '[' {
		return harmless(string(value))
	}
	return string(value)
}

// harmless is a text in which no spreadsheet finds a formula: an apostrophe stands before each. One begins where the cell does, and, for who reads
// the table with semicolons or tabs between cells, behind each of these and in each line.
func harmless(text string) string {
	var safe strings.Builder
	if strings.TrimLeft(text, "\t\r\n") != text {
		safe.WriteByte('\'')
	}
	for text != "" {
		end := strings.IndexAny(text, ";\t\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		first := strings.TrimLeftFunc(text[:end], func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) })
		if c, _ := utf8.DecodeRuneInString(first); strings.ContainsRune("=+-@", narrow(c)) {
			safe.WriteByte('\'')
		}
		safe.WriteString(text[:end])
		text = text[end:]
	}
	return safe.String()
}

// narrow is a character without the width that it has for scripts of East Asia.
func narrow(c rune) rune {
	folded, _ := utf8.DecodeRuneInString(norm.NFKC.String(string(c)))
	return folded
}
