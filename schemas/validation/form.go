package validation

import (
	"reflect"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// TypeOf returns the JSON type of a value by its first byte, as JSON Schema names it.
func TypeOf(kind jsontext.Kind) string {
	switch byte(kind) {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case '0':
		return typeNumber
	case 't', 'f':
		return typeBoolean
	default:
		return typeNull
	}
}

// TypeFor returns the JSON type that is read into a Go type; empty for a type that any JSON may be read into.
func TypeFor(in reflect.Type) string {
	if in == nil {
		return ""
	}
	switch in.Kind() {
	case reflect.Pointer:
		return TypeFor(in.Elem())
	case reflect.Slice, reflect.Array:
		return typeArray
	case reflect.Struct, reflect.Map:
		return typeObject
	case reflect.String:
		return typeString
	case reflect.Bool:
		return typeBoolean
	case reflect.Int, reflect.Int32, reflect.Int64:
		return typeInteger
	case reflect.Float64:
		return typeNumber
	default:
		return ""
	}
}

// memberOrIndex matches what stands in a pointer into a documented message.
var memberOrIndex = regexp.MustCompile(`^([a-z_]{1,32}|[0-9]{1,9})$`)

// Place returns a pointer as far as its names are those of documented messages. Other names may be anybody's words, which no log and no
// record of a fault has.
func Place(at jsontext.Pointer) jsontext.Pointer {
	var known jsontext.Pointer
	for token := range at.Tokens() {
		if !memberOrIndex.MatchString(token) {
			break
		}
		known = known.AppendToken(token)
	}
	return known
}
