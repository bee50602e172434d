package validation

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Reader reads JSON into a T, with the verdict of the schema that it was made of. Errors
// are *Error.
//
// One pass reads and checks: the library that validates takes four to eight times as long,
// and a value decoded into its type first cannot tell what is absent from what is empty.
type Reader[T any] func(body []byte) (T, error)

// NewReader joins a schema with the type that says the same. It refuses a schema that says
// more than a Reader can check.
func NewReader[T any](schema []byte) (Reader[T], error) {
	var document shape
	if err := json.Unmarshal(schema, &document, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("not a schema that can be read by: %w", err)
	}
	if more := document.unchecked(); more != "" {
		return nil, errors.New("not a schema that can be read by: it has " + more)
	}
	read := document.reader(&document, reflect.TypeFor[T]())
	return func(body []byte) (T, error) {
		var value, none T
		if err := decode(body, func(d *decoder) { read(d, reflect.ValueOf(&value).Elem()) }); err != nil {
			return none, err
		}
		return value, nil
	}, nil
}

// A shape is a JSON Schema as far as a Reader goes: other keywords are refused. Every
// number is at least 0 and has a maximum.
type shape struct {
	Dialect              string            `json:"$schema"`
	ID                   string            `json:"$id"`
	Title                string            `json:"title"`
	Description          string            `json:"description"`
	Ref                  string            `json:"$ref"`
	Defs                 map[string]*shape `json:"$defs"`
	Type                 string            `json:"type"`
	Const                string            `json:"const"`
	Enum                 []string          `json:"enum"`
	Format               string            `json:"format"`
	Pattern              *regexp.Regexp    `json:"pattern"`
	MinLength            int               `json:"minLength"` // 0 or 1
	MaxLength            int               `json:"maxLength"`
	Minimum              int               `json:"minimum"` // 0
	Maximum              float64           `json:"maximum"`
	Items                *shape            `json:"items"`
	MinItems             int               `json:"minItems"`
	MaxItems             int               `json:"maxItems"`
	Required             []string          `json:"required"`
	Properties           map[string]*shape `json:"properties"`
	AdditionalProperties *shape            `json:"additionalProperties"`
}

// unchecked is what a shape says in keywords that are known, and no reader checks; empty is nothing.
func (s *shape) unchecked() string {
	switch {
	case s == nil:
		return ""
	case s.MinLength > 1:
		return "a text of more than one character at least"
	case len(s.Required) > 64:
		return "more than 64 members that are required"
	case s.Minimum != 0:
		return "a number that does not begin at 0"
	case (s.Type == typeNumber || s.Type == typeInteger) && s.Maximum <= 0:
		return "a number without a maximum"
	case s.MinItems+s.MaxItems > 0 && s.Items != nil && s.Items.Type == typeString:
		return "a bound of a list of texts"
	}
	for _, parts := range [...]iter.Seq[*shape]{maps.Values(s.Defs), maps.Values(s.Properties), slices.Values([]*shape{s.Items, s.AdditionalProperties})} {
		for part := range parts {
			if more := part.unchecked(); more != "" {
				return more
			}
		}
	}
	return ""
}

// A reader reads one value into a place of the type that it was made for.
type reader func(d *decoder, into reflect.Value)

// reader returns what reads a value of shape s, which stands in document, into a type.
func (document *shape) reader(s *shape, to reflect.Type) reader {
	if name, refers := strings.CutPrefix(s.Ref, "#/$defs/"); refers {
		s = document.Defs[name]
	}
	switch to {
	case reflect.TypeFor[time.Time]():
		return func(d *decoder, into reflect.Value) { *at[time.Time](into) = d.time() }
	case reflect.TypeFor[[]string]():
		text := s.Items.text()
		return func(d *decoder, into reflect.Value) { *at[[]string](into) = list(d, text) }
	case reflect.TypeFor[jsontext.Value]():
		if s.Type == typeObject {
			return func(d *decoder, into reflect.Value) { *at[jsontext.Value](into) = d.freeObject() }
		}
		return func(d *decoder, into reflect.Value) { *at[jsontext.Value](into) = d.free() }
	}
	switch to.Kind() {
	case reflect.Pointer:
		read := document.reader(s, to.Elem())
		return func(d *decoder, into reflect.Value) {
			into.Set(reflect.New(to.Elem()))
			read(d, into.Elem())
		}
	case reflect.Struct:
		return document.object(s, to)
	case reflect.Slice:
		return document.list(s, to)
	case reflect.Map:
		return document.dictionary(s, to)
	case reflect.Bool:
		return func(d *decoder, into reflect.Value) { into.SetBool(d.boolean()) }
	case reflect.Int, reflect.Int64:
		return func(d *decoder, into reflect.Value) { into.SetInt(int64(d.integer(s.Maximum))) }
	case reflect.Float64:
		return func(d *decoder, into reflect.Value) { into.SetFloat(d.number(s.Maximum)) }
	default:
		text := s.text()
		return func(d *decoder, into reflect.Value) { into.SetString(text(d)) }
	}
}

func at[T any](place reflect.Value) *T { return place.Addr().Interface().(*T) } //nolint:forcetypeassert // it is of that type

func (s *shape) text() func(*decoder) string {
	switch {
	case s.Const != "":
		return func(d *decoder) string { return choice(d, s.Const) }
	case len(s.Enum) > 0:
		return func(d *decoder) string { return choice(d, s.Enum...) }
	case s.Format == "uuid":
		return (*decoder).uuid
	case s.MinLength > 0 || s.MaxLength > 0 || s.Pattern != nil:
		return func(d *decoder) string { return d.bounded(s) }
	}
	return (*decoder).text
}

func (document *shape) object(s *shape, to reflect.Type) reader {
	type member struct {
		index    []int
		read     reader // nil when the type has no place for it
		required uint64 // its bit, if it is
	}
	members, all := map[string]member{}, uint64(0)
	for i, name := range s.Required {
		members[name] = member{required: 1 << i}
		all |= 1 << i
	}
	for _, field := range reflect.VisibleFields(to) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if property := s.Properties[name]; property != nil {
			members[name] = member{field.Index, document.reader(property, field.Type), members[name].required}
		}
	}
	return func(d *decoder, into reflect.Value) {
		if !d.open('{') {
			return
		}
		missing := all
		for !d.closing('}') {
			member := members[string(d.name())]
			missing &^= member.required
			if member.read == nil {
				d.next()
				continue
			}
			member.read(d, into.FieldByIndex(member.index))
		}
		if missing != 0 {
			d.refuse(lacks(s.Required[bits.TrailingZeros64(missing)]))
		}
	}
}

func (document *shape) list(s *shape, to reflect.Type) reader {
	element, empty := document.reader(s.Items, to.Elem()), reflect.MakeSlice(to, 0, 0)
	return func(d *decoder, into reflect.Value) {
		into.Set(empty)
		if !d.open('[') {
			return
		}
		for n := 0; !d.closing(']'); n++ {
			into.Grow(1)
			into.SetLen(n + 1)
			element(d, into.Index(n))
		}
		switch {
		case into.Len() < s.MinItems:
			d.refuse(reasonEmpty)
		case s.MaxItems > 0 && into.Len() > s.MaxItems:
			d.refuse(tooMany(s.MaxItems))
		}
	}
}

func (document *shape) dictionary(s *shape, to reflect.Type) reader {
	read := document.reader(s.AdditionalProperties, to.Elem())
	return func(d *decoder, into reflect.Value) {
		into.Set(reflect.MakeMap(to))
		d.object(func(name []byte) {
			key, value := reflect.ValueOf(string(name)), reflect.New(to.Elem()).Elem()
			read(d, value)
			into.SetMapIndex(key, value)
		})
	}
}
