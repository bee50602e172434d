package answer

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json/jsontext"
)

// maxTold bounds the words of a template, in bytes: they stand in a record.
const maxTold = 16 << 10

// A Template tells the data of one agent.
type Template struct{ parsed *template.Template }

// errTooLong reports a template that says more than maxTold.
var errTooLong = errors.New("the template says more than 16 KiB")

// ParseTemplate reads a template (Go text/template). It fails on one that cannot be read.
func ParseTemplate(text string) (*Template, error) {
	parsed, err := template.New("render").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return &Template{parsed: parsed}, nil
}

// Tell returns what the template says of some data. It fails when the data is not what the template
// takes, or when it says too much: then the data is told line by line.
func (t *Template) Tell(data jsontext.Value) (string, error) {
	root := read(data)
	if root.kind == 0 {
		return "", errors.New("render: the data is no JSON")
	}
	told := boundedText{room: maxTold}
	if err := t.parsed.Execute(&told, root.plain()); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	return strings.TrimSpace(told.text.String()), nil
}

// plain returns a value as templates take it: whole numbers whole, so that they are told as they are written,
// and nothing as an empty text.
func (v *value) plain() any {
	switch v.kind {
	case '{':
		members := make(map[string]any, len(v.names))
		for i, name := range v.names {
			members[name] = v.members[i].plain()
		}
		return members
	case '[':
		entries := make([]any, len(v.members))
		for i := range v.members {
			entries[i] = v.members[i].plain()
		}
		return entries
	case 't', 'f':
		return v.kind == 't'
	case '0':
		if whole, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return whole
		}
		if fraction, err := strconv.ParseFloat(v.text, 64); err == nil {
			return fraction
		}
		return v.text
	case 'n':
		return ""
	}
	return v.text
}

type boundedText struct {
	text strings.Builder
	room int
}

var _ io.Writer = (*boundedText)(nil)

// Write implements io.Writer.
func (b *boundedText) Write(chunk []byte) (int, error) {
	if b.room -= len(chunk); b.room < 0 {
		return 0, errTooLong
	}
	return b.text.Write(chunk)
}
