package arguments

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas/pointer"
)

// What a schema may be at most: 1.3 KB of nested anyOf took the validator 3.7 s.
const (
	maxSchema = 64 << 10
	maxDepth  = 32
	maxNodes  = 10_000
	maxData   = 1 << 20
)

// A document is a JSON Schema as what it says of the places of an object.
type document struct {
	root  any
	nodes int
	// properties are all places below the root, in the order of their paths.
	properties []property
}

// A property is one place of the object, as all parts of the schema say together.
type property struct {
	path     string
	names    []string
	title    string
	kind     string // its type; empty: any
	format   string
	choices  []string          // enum and const
	told     map[string]string // what people call them: enumNames
	items    string            // the type of the elements of an array
	plain    bool              // any text will do
	required bool              // by its parent, without any condition
	open     bool              // its schema describes members that it does not name
}

func parseDocument(body jsontext.Value) (*document, error) {
	if len(body) > maxSchema {
		return nil, fmt.Errorf("it has %d bytes, more than %d: describe less of the arguments", len(body), maxSchema)
	}
	d := &document{}
	if err := json.Unmarshal(body, &d.root); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := d.measure(d.root, 0, false); err != nil {
		return nil, err
	}
	d.collect(d.root, nil, true, 0)
	return d, nil
}

// measure counts what a validator may walk through, references unrolled.
func (d *document) measure(schema any, depth int, names bool) error {
	d.nodes++
	switch {
	case depth > maxDepth:
		return fmt.Errorf("it is deeper than %d, or refers to itself: describe less of what is nested", maxDepth)
	case d.nodes > maxNodes:
		return fmt.Errorf("it has more than %d parts with each $ref counted as what it leads to: refer to less", maxNodes)
	}
	switch schema := schema.(type) {
	case []any:
		for _, part := range schema {
			if err := d.measure(part, depth, false); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(schema)) {
			if !names {
				if err := d.measureKeyword(name, schema[name], depth); err != nil {
					return err
				}
				continue
			}
			if err := d.measure(schema[name], depth+1, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) measureKeyword(name string, value any, depth int) error {
	switch name {
	case "$defs", "definitions", "enum", "const", "default", "examples", "title", "description", "$comment", "required":
		return nil
	case "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor":
		return fmt.Errorf("it has %s: use $ref with a place in $defs", name)
	case "$id":
		if depth > 0 {
			return errors.New("a part of it has an $id of its own: only the whole may have one")
		}
		return nil
	case "$ref":
		target, err := d.target(value)
		if err != nil {
			return err
		}
		return d.measure(target, depth+1, false)
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		return d.measure(value, depth, true)
	}
	switch value.(type) {
	case map[string]any, []any, bool:
		return d.measure(value, depth+1, false)
	}
	return nil
}

// target is what a reference leads to.
func (d *document) target(reference any) (any, error) {
	text, _ := reference.(string)
	rest, local := strings.CutPrefix(text, "#")
	if !local || rest != "" && !strings.HasPrefix(rest, "/") {
		return nil, fmt.Errorf("its $ref %q leads elsewhere: refer to a place in it, as in #/$defs/name", text)
	}
	target, _ := pointer.Decoded(d.root, jsontext.Pointer(rest))
	if target == nil {
		return nil, fmt.Errorf("its $ref %q leads to nothing", text)
	}
	return target, nil
}

// collect gathers the places that a schema names. What stands in a condition is there too, but not always required.
func (d *document) collect(schema any, names []string, always bool, depth int) {
	object, ok := schema.(map[string]any)
	if !ok || depth > maxDepth {
		return
	}
	if reference, ok := object["$ref"]; ok {
		if target, err := d.target(reference); err == nil {
			d.collect(target, names, always, depth+1)
		}
	}
	if len(names) > 0 {
		d.note(object, names, always)
	}
	required, _ := object["required"].([]any)
	properties, _ := object["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		path := append(slices.Clone(names), name)
		p := d.place(path)
		p.required = p.required || always && slices.Contains(required, any(name))
		d.collect(properties[name], path, always, depth+1)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else"} {
		parts, several := object[name].([]any)
		if !several {
			parts = []any{object[name]}
		}
		for _, part := range parts {
			d.collect(part, names, always && name == "allOf", depth+1)
		}
	}
	dependent, _ := object["dependentSchemas"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(dependent)) {
		d.collect(dependent[name], names, false, depth+1)
	}
}

func (d *document) place(names []string) *property {
	path := strings.Join(names, ".")
	at, ok := slices.BinarySearchFunc(d.properties, path, func(p property, path string) int { return strings.Compare(p.path, path) })
	if !ok {
		d.properties = slices.Insert(d.properties, at, property{path: path, names: slices.Clone(names), plain: true})
	}
	return &d.properties[at]
}

// note adds what one part of a schema says of a place. The first that says something is believed.
func (d *document) note(schema map[string]any, names []string, always bool) {
	p := d.place(names)
	first := func(to *string, keyword string) {
		if text, ok := schema[keyword].(string); ok && *to == "" {
			*to = text
		}
	}
	first(&p.title, "title")
	first(&p.kind, "type")
	first(&p.format, "format")
	_, open := schema["additionalProperties"].(map[string]any)
	p.open = p.open || open
	if types, ok := schema["type"].([]any); ok && p.kind == "" {
		for _, one := range types {
			if name, ok := one.(string); ok && name != "null" && p.kind == "" {
				p.kind = name
			}
		}
	}
	choices, _ := schema["enum"].([]any)
	if told, _ := schema["enumNames"].([]any); len(told) == len(choices) {
		for i := range choices {
			value, isText := choices[i].(string)
			name, isName := told[i].(string)
			if isText && isName && p.told == nil {
				p.told = map[string]string{}
			}
			if isText && isName {
				p.told[value] = name
			}
		}
	}
	if constant, ok := schema["const"]; ok && always {
		choices = []any{constant}
	}
	for _, choice := range choices {
		if text, ok := choice.(string); ok && always && !slices.Contains(p.choices, text) {
			p.choices = append(p.choices, text)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok && p.items == "" {
		p.items, _ = items["type"].(string)
	}
	for _, keyword := range []string{"enum", "const", "format", "pattern"} {
		if _, ok := schema[keyword]; ok {
			p.plain = false
		}
	}
}

// property is the place with a path.
func (d *document) property(path string) (*property, bool) {
	at, ok := slices.BinarySearchFunc(d.properties, path, func(p property, path string) int { return strings.Compare(p.path, path) })
	if !ok {
		return nil, false
	}
	return &d.properties[at], true
}

// isLeaf says whether no other place is inside of it.
func (d *document) isLeaf(p *property) bool {
	inside := p.path + "."
	at, _ := slices.BinarySearchFunc(d.properties, inside, func(p property, path string) int { return strings.Compare(p.path, path) })
	return at == len(d.properties) || !strings.HasPrefix(d.properties[at].path, inside)
}
