package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"

	"podium/schemas"
	"podium/schemas/validation"
)

// examplesOf returns arguments that an input schema takes: its examples, else what can be made up for what it requires.
func examplesOf(schema []byte) ([][]byte, error) {
	compiled, err := validation.Compile(schema)
	if err != nil {
		return nil, fmt.Errorf("the input_schema of the agent: %w", err)
	}
	var about fragment
	if err := json.Unmarshal(schema, &about); err != nil {
		return nil, fmt.Errorf("the input_schema of the agent: %w", err)
	}
	values := about.Examples
	if len(values) == 0 {
		values = []any{about.value()}
	}
	var all [][]byte
	for _, value := range values {
		body, err := schemas.Marshal(value)
		if err != nil {
			return nil, err
		}
		if err := compiled.Validate(body); err != nil {
			return nil, fmt.Errorf("arguments cannot be made up for the input_schema of the agent (%w): add `examples` to it, or name some by --arguments", err)
		}
		all = append(all, body)
	}
	return all, nil
}

// A fragment is the part of a JSON Schema by which a value can be made up.
type fragment struct {
	Type       any                 `json:"type"` // a name, or a list of them
	Const      any                 `json:"const"`
	Default    any                 `json:"default"`
	Enum       []any               `json:"enum"`
	Examples   []any               `json:"examples"`
	Properties map[string]fragment `json:"properties"`
	Required   []string            `json:"required"`
	Items      *fragment           `json:"items"`
	MinItems   int                 `json:"minItems"`
	Minimum    *float64            `json:"minimum"`
	MinLength  int                 `json:"minLength"`
	Format     string              `json:"format"`
}

// value makes up a value. It may be wrong where a schema says more than a fragment knows.
func (f *fragment) value() any {
	switch {
	case f.Const != nil:
		return f.Const
	case len(f.Examples) > 0:
		return f.Examples[0]
	case f.Default != nil:
		return f.Default
	case len(f.Enum) > 0:
		return f.Enum[0]
	}
	switch kind := f.kind(); kind {
	case "object":
		object := map[string]any{}
		for _, name := range f.Required {
			property := f.Properties[name]
			object[name] = property.value()
		}
		return object
	case "array":
		list := []any{}
		for range f.MinItems {
			if f.Items == nil {
				f.Items = &fragment{}
			}
			list = append(list, f.Items.value())
		}
		return list
	case "string":
		return f.text()
	case "integer", "number":
		if f.Minimum != nil {
			return *f.Minimum
		}
		return 1
	case "boolean":
		return false
	}
	return nil
}

func (f *fragment) kind() string {
	switch named := f.Type.(type) {
	case string:
		return named
	case []any:
		if at := slices.IndexFunc(named, func(one any) bool { return one != "null" }); at >= 0 {
			name, _ := named[at].(string)
			return name
		}
	}
	if f.Properties != nil || f.Required != nil {
		return "object"
	}
	return "string"
}

func (f *fragment) text() string {
	switch f.Format {
	case "date":
		return "2026-11-24"
	case "date-time":
		return "2026-11-24T10:00:00Z"
	case "time":
		return "10:00:00Z"
	case "email":
		return "somebody@example.org"
	case "uri":
		return "https://example.org/"
	case "uuid":
		return "5f3c1b7e-8f43-4d55-9a62-0f6a4a3f3a10"
	}
	text := "otters"
	for len(text) < f.MinLength {
		text += " and otters"
	}
	return text
}
