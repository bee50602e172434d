package answer

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// maxTold bounds the words of a template, in bytes: they stand in a record.
const maxTold = 16 << 10

// A Template tells the data of one agent.
type Template struct{ parsed *template.Template }

// errTooLong reports a template that says more than maxTold.
var errTooLong = errors.New("the template says more than 16 KiB")

// ParseTemplate reads a template (Go text/template). It fails on one that cannot be read.
func ParseTemplate(text string) (*Template, error) {
	parsed, err := template.New("render").Option("missingkey=zero").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return &Template{parsed: parsed}, nil
}

// Tell returns what the template says of some data. It fails when the data is not what the template
// takes, or when it says too much: then the data is told line by line.
func (t *Template) Tell(data jsontext.Value) (string, error) {
	var read any
	if err := schemas.Unmarshal(data, &read); err != nil {
		return "", err
	}
	told := boundedText{room: maxTold}
	if err := t.parsed.Execute(&told, read); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	return strings.TrimSpace(strings.ReplaceAll(told.text.String(), "<no value>", "")), nil
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
