package arguments

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An object holds JSON values by name: objects as objects, all else as it was written.
type object map[string]any

var errNoObject, errTooLong = errors.New("it is not a JSON object"), errors.New("it is longer than 1 MiB")

func parseObject(value jsontext.Value) (object, error) {
	if len(value) == 0 {
		return object{}, nil
	}
	if len(value) > maxData {
		return nil, errTooLong
	}
	if value.Kind() != '{' {
		return nil, errNoObject
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, errNoObject
	}
	o := object{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if members[name].Kind() != '{' {
			o[name] = members[name].Clone()
			continue
		}
		inner, err := parseObject(members[name])
		if err != nil {
			return nil, err
		}
		o[name] = inner
	}
	return o, nil
}

func (o object) encode() (jsontext.Value, error) {
	return json.Marshal(o, json.Deterministic(true))
}

func (o object) get(names []string) (any, bool) {
	var at any = o
	for _, name := range names {
		inner, ok := at.(object)
		if !ok {
			return nil, false
		}
		if at, ok = inner[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// set puts a value there, unless something else than an object is in the way.
func (o object) set(names []string, value any) bool {
	at := o
	for _, name := range names[:len(names)-1] {
		inner, ok := at[name]
		if !ok {
			inner = object{}
			at[name] = inner
		}
		if at, ok = inner.(object); !ok {
			return false
		}
	}
	at[names[len(names)-1]] = value
	return true
}

func (o object) remove(names []string) {
	parent, ok := o.get(names[:len(names)-1])
	if inner, isObject := parent.(object); ok && isObject {
		delete(inner, names[len(names)-1])
	}
}

// leaves calls visit with each value that is no object, and each empty object, in the order of the names.
func (o object) leaves(names []string, visit func(names []string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		path := append(slices.Clone(names), name)
		if inner, ok := o[name].(object); ok && len(inner) > 0 {
			inner.leaves(path, visit)
			continue
		}
		visit(path, o[name])
	}
}

// quoted is a text as a JSON value.
func quoted(text string) jsontext.Value {
	value, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	if err != nil {
		return jsontext.Value(`""`)
	}
	return value
}

// unquoted is the text of a value as a person reads it.
func unquoted(value any) string {
	raw, ok := value.(jsontext.Value)
	if !ok {
		return ""
	}
	if raw.Kind() != '"' {
		return string(raw)
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(text)
}
