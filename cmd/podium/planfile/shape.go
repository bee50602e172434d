package planfile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// A shape is what the JSON Schema of a request says of one value.
type shape struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Const       string            `json:"const"`
	Enum        []string          `json:"enum"`
	Format      string            `json:"format"`
	Pattern     string            `json:"pattern"`
	MinLength   int               `json:"minLength"`
	MaxLength   int               `json:"maxLength"`
	MinItems    int               `json:"minItems"`
	MaxItems    int               `json:"maxItems"`
	Minimum     *int64            `json:"minimum"`
	Maximum     *int64            `json:"maximum"`
	Required    []string          `json:"required"`
	Properties  map[string]*shape `json:"properties"`
	Named       *shape            `json:"additionalProperties"`
	Items       *shape            `json:"items"`
	Definitions map[string]*shape `json:"$defs"`
}

// requestShape returns what an execution_request may hold.
func requestShape() (*shape, error) {
	body, err := schemas.Schema(schemas.EnvelopeTypeExecutionRequest)
	if err != nil {
		return nil, err
	}
	var root shape
	if err = schemas.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	if root.Properties["payload"] == nil || root.Properties["payload"].Properties["tasks"] == nil {
		return nil, errors.New("the schema of an execution_request has no tasks")
	}
	return &root, nil
}

// A reader holds the values of a file to their shapes and notes what is wrong.
type reader struct {
	file     string
	body     []byte
	shapes   map[string]*shape // by reference
	problems diagnostic.Problems
}

func (r *reader) problem(at int64, path, format string, arguments ...any) {
	line, column := position(r.body, at)
	found := diagnostic.Problem{File: r.file, Line: line, Column: column, Path: path, Message: fmt.Sprintf(format, arguments...)}
	if !slices.ContainsFunc(r.problems, func(known *diagnostic.Problem) bool { return *known == found }) {
		r.problems = append(r.problems, &found)
	}
}

// resolve follows a reference; the description beside it wins.
func (r *reader) resolve(of *shape) *shape {
	if of.Ref == "" {
		return of
	}
	target := *r.shapes[strings.TrimPrefix(of.Ref, "#/$defs/")]
	if of.Description != "" {
		target.Description = of.Description
	}
	return &target
}

func (r *reader) value(value *node, of *shape, path string) {
	of = r.resolve(of)
	if value.kind == 'n' && of.Type != "" {
		r.problem(value.at, path, "it has no value; give it one or remove it")
		return
	}
	wanted, kind := r.wanted(of)
	if kind != 0 && value.kind != kind && (kind != 't' || value.kind != 'f') {
		r.problem(value.at, path, "%s is expected, and this is %s%s", wanted, value.found(), purpose(of))
		return
	}
	switch kind {
	case '{':
		r.object(value, of, path)
	case '[':
		r.list(value, of, path)
	case '"':
		r.text(value, of, path)
	case '0':
		r.number(value, of, path)
	default:
		r.free(value, path)
	}
}

// wanted says what a value has to be, to a person and to the reader; nothing when it
// may be anything.
func (*reader) wanted(of *shape) (words string, kind jsontext.Kind) {
	switch {
	case of.Type == "object":
		return "an object", '{'
	case of.Type == "array" && of.Items.Type == "string":
		return "a list of texts", '['
	case of.Type == "array":
		return "a list of objects", '['
	case of.Type == "integer":
		return "a whole number", '0'
	case of.Type == "boolean":
		return "true or false", 't'
	case of.Type == "string", of.Const != "", len(of.Enum) > 0:
		return "a text", '"'
	}
	return "", 0
}

// purpose tells what a value of the wrong kind is for.
func purpose(of *shape) string {
	if of.Description == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(of.Description, ".") + ")"
}

// object holds the members to those that the shape knows: what nobody reads is a
// mistake about something that matters to whoever wrote it.
func (r *reader) object(value *node, of *shape, path string) {
	r.twice(value, path)
	for i := range value.members {
		named := &value.members[i]
		inner := diagnostic.Under(path, named.name)
		switch known := of.Properties[named.name]; {
		case known != nil:
			r.value(named.value, known, inner)
		case of.Named != nil:
			r.value(named.value, of.Named, inner)
		case of.Properties == nil:
			r.free(named.value, inner)
		default:
			keys := slices.Sorted(maps.Keys(of.Properties))
			r.problem(named.at, path, "%s", diagnostic.Suggest(fmt.Sprintf("unknown key %q", named.name), named.name, keys))
		}
	}
	for _, name := range of.Required {
		if value.member(name) == nil {
			r.problem(value.at, path, "%q is missing%s", name, purpose(r.resolve(of.Properties[name])))
		}
	}
}

// twice names the members whose name stands before them.
func (r *reader) twice(value *node, path string) {
	seen := make(map[string]bool, len(value.members))
	for i := range value.members {
		if named := &value.members[i]; seen[named.name] {
			r.problem(named.at, diagnostic.Under(path, named.name), "the key is there twice")
		}
		seen[value.members[i].name] = true
	}
}

// free holds a value that may be anything to the one rule that is left.
func (r *reader) free(value *node, path string) {
	r.twice(value, path)
	for i := range value.members {
		r.free(value.members[i].value, diagnostic.Under(path, value.members[i].name))
	}
	for i, element := range value.elements {
		r.free(element, entry(path, i))
	}
}

func (r *reader) list(value *node, of *shape, path string) {
	if count := len(value.elements); count < of.MinItems {
		r.problem(value.at, path, "the list is empty")
	} else if of.MaxItems > 0 && count > of.MaxItems {
		r.problem(value.at, path, "the list has %d entries; at most %d are allowed", count, of.MaxItems)
	}
	for i, element := range value.elements {
		r.value(element, of.Items, entry(path, i))
	}
}

func (r *reader) text(value *node, of *shape, path string) {
	allowed := of.Enum
	if of.Const != "" {
		allowed = []string{of.Const}
	}
	length := utf8.RuneCountInString(value.text)
	switch {
	case len(allowed) > 0 && !slices.Contains(allowed, value.text):
		r.problem(value.at, path, "%s", diagnostic.Suggest(fmt.Sprintf("%q is not a value that it can have", value.text), value.text, allowed))
	case of.Pattern != "" && !schemas.ValidAgentName(value.text): // the only pattern there is
		r.problem(value.at, path, "%q is not the name of an agent: 1 to 63 of a-z, 0-9, _ and -, and not a number", value.text)
	case of.Format == "uuid" && !isUUID(value.text):
		r.problem(value.at, path, "it is not a UUID such as 7d444840-9dc0-11d1-b245-5ffdce74fad2")
	case of.Format == "date-time" && !isTime(value.text):
		r.problem(value.at, path, "it is not a time such as 2026-01-31T12:00:00Z")
	case length < of.MinLength:
		r.problem(value.at, path, "the text is empty")
	case of.MaxLength > 0 && length > of.MaxLength:
		r.problem(value.at, path, "the text has %d characters; at most %d are allowed", length, of.MaxLength)
	}
}

func (r *reader) number(value *node, of *shape, path string) {
	number, err := strconv.ParseInt(value.literal, 10, 64)
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if of.Minimum != nil {
		low = *of.Minimum
	}
	if of.Maximum != nil {
		high = *of.Maximum
	}
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && (number < low || number > high):
		r.problem(value.at, path, "%s is not between %d and %d", value.literal, low, high)
	case err != nil:
		r.problem(value.at, path, "a whole number is expected, and this is %s%s", value.literal, purpose(of))
	}
}

func isUUID(text string) bool {
	_, err := uuid.Parse(text)
	return err == nil && len(text) == len(uuid.Nil.String())
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func entry(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
