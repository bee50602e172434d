package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/table"
)

// maxDocument bounds what a template makes of data, in bytes of Markdown.
const maxDocument = 1 << 20

// maxMarkup bounds what of that comes from data with its Markdown, in bytes: to read some marks takes time that grows with the square of their
// number, which nobody can stop.
const maxMarkup = 64 << 10

// errTooLong reports more than maxDocument, or more than maxMarkup.
var errTooLong = errors.New("the document has more than 1 MiB of text, or its data more than 64 KiB of Markdown")

// markup is text whose Markdown counts.
type markup string

// A filling puts data into one document.
type filling struct {
	say     func(key string) string // a sentence in the language of the document
	missing []string                // paths, in the order in which they stand in the template
	marked  int                     // bytes of data whose Markdown counts
}

// fill returns the Markdown of a document. What is missing is in the filling. Errors: errTooLong, table.ErrTooLarge.
func (f *filling) fill(parsed *template.Template, data any) ([]byte, error) {
	own, err := parsed.Clone()
	if err != nil {
		return nil, err
	}
	filled := boundedBuffer{}
	if err := own.Funcs(f.functions()).Execute(&filled, data); err != nil {
		return nil, err
	}
	return filled.Bytes(), table.CheckMarkdown(filled.Bytes())
}

func (f *filling) functions() template.FuncMap {
	return template.FuncMap{
		"value": f.value, "text": f.text, "line": f.line, "markdown": f.markdown, "date": f.date, "number": f.number, "entries": entries,
	}
}

// value passes on what stands at a path of the data, and takes down that nothing does.
func (f *filling) value(path string, value any) any {
	text, is := value.(string)
	if value == nil || is && strings.TrimSpace(text) == "" {
		if !slices.Contains(f.missing, path) {
			f.missing = append(f.missing, path)
		}
		return ""
	}
	return value
}

// entries are those of a list, and none of what is missing.
func entries(value any) any {
	if value == "" {
		return []any{}
	}
	return value
}

// text writes a value so that Markdown sees nothing but text in it. Lines stay lines.
func (f *filling) text(value any) (string, error) { return f.written(value, "\\\n") }

// line is text on one line.
func (f *filling) line(value any) (string, error) { return f.written(value, " ") }

func (f *filling) written(value any, newline string) (string, error) {
	if marked, is := value.(markup); is {
		if newline == " " && strings.Contains(strings.TrimSpace(string(marked)), "\n") {
			return "", errors.New("markdown of several lines stands in a row, a heading or a list: put it on a line of its own")
		}
		return string(marked), nil
	}
	plain, err := f.plain(value)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(plain, "\r\n", "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, escaped(line))
		}
	}
	return strings.Join(lines, newline), nil
}

// plain is a value as people read it.
func (f *filling) plain(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		if v {
			return f.say("yes"), nil
		}
		return f.say("no"), nil
	case int, int64:
		return fmt.Sprint(v), nil
	case float64:
		return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), ".", f.say("decimal"), 1), nil
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			var err error
			if parts[i], err = f.plain(v[i]); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, ", "), nil
	}
	return "", errors.New("it is an object: name one of its members")
}

// markdown has the Markdown of a text count.
func (f *filling) markdown(value any) (markup, error) {
	plain, err := f.plain(value)
	if f.marked += len(plain); f.marked > maxMarkup {
		return "", errTooLong
	}
	return markup(plain), err
}

// date writes 2026-03-30, or a moment, as people do. What is no such date stays as it is.
func (f *filling) date(value any) (string, error) {
	plain, err := f.plain(value)
	if err != nil {
		return "", err
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if day, err := time.Parse(layout, strings.TrimSpace(plain)); err == nil {
			return day.Format(f.say("date")), nil
		}
	}
	return plain, nil
}

// number writes a number with so many decimals.
func (f *filling) number(value any, decimals int) (string, error) {
	var number float64
	switch v := value.(type) {
	case float64:
		number = v
	case int64:
		number = float64(v)
	case string: // it is missing, or was written by a person
		read, err := strconv.ParseFloat(strings.Replace(v, f.say("decimal"), ".", 1), 64)
		if err != nil {
			return v, nil //nolint:nilerr // words stay as they are
		}
		number = read
	default:
		return "", errors.New("it is no number")
	}
	return strings.Replace(strconv.FormatFloat(number, 'f', max(0, min(decimals, 12)), 64), ".", f.say("decimal"), 1), nil
}

// escaped has no mark of Markdown in it, and no line that begins a list.
func escaped(line string) string {
	var text strings.Builder
	for _, c := range line {
		if c < 128 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) {
			text.WriteByte('\\')
		}
		text.WriteRune(c)
	}
	return text.String()
}

// dataOf reads data so that whole numbers keep their digits, and nothing is there that is null.
func dataOf(body jsontext.Value) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil {
		return nil, err
	}
	if data == nil {
		data = map[string]any{}
	}
	settled(data)
	return data, nil
}

// settled gives numbers their kind, and takes out what is null.
func settled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = settled(member); v[name] == nil {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = settled(v[i])
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		if number, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return number
		}
		return v.String()
	}
	return value
}

// A boundedBuffer takes maxDocument bytes.
type boundedBuffer struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *boundedBuffer) Write(chunk []byte) (int, error) {
	if b.Len()+len(chunk) > maxDocument {
		return 0, errTooLong
	}
	return b.Buffer.Write(chunk)
}
