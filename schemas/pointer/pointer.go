// Package pointer follows JSON Pointers (RFC 6901) into values.
package pointer

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// Value returns what a pointer leads to in a JSON value, as it stands there; false when that is nothing. The empty pointer leads to the
// whole, and null is something. A value that is not to be read leads to nothing.
func Value(value jsontext.Value, at jsontext.Pointer) (jsontext.Value, bool) {
	return follow(value, at, func(value jsontext.Value, token string) (next jsontext.Value, found bool) {
		switch value.Kind() {
		case '{':
			var members map[string]jsontext.Value
			found = schemas.Unmarshal(value, &members) == nil
			next = members[token]
		case '[':
			var elements []jsontext.Value
			found = schemas.Unmarshal(value, &elements) == nil
			next, _ = element(elements, token)
		}
		return next, found && len(next) > 0
	})
}

// Decoded is Value in what a decoder has made of JSON: maps, slices, and what is neither.
func Decoded(value any, at jsontext.Pointer) (any, bool) {
	return follow(value, at, func(value any, token string) (next any, found bool) {
		switch value := value.(type) {
		case map[string]any:
			next, found = value[token]
		case []any:
			next, found = element(value, token)
		}
		return next, found
	})
}

func follow[V any](value V, at jsontext.Pointer, step func(V, string) (V, bool)) (V, bool) {
	var nothing V
	if !at.IsValid() {
		return nothing, false
	}
	for token := range at.Tokens() {
		next, found := step(value, token)
		if !found {
			return nothing, false
		}
		value = next
	}
	return value, true
}

func element[V any](elements []V, token string) (V, bool) {
	if index, is := Index(token); is && index < len(elements) {
		return elements[index], true
	}
	var nothing V
	return nothing, false
}

// Index reads a part of a pointer as the place of an element: digits, without a zero before them. The place behind the last one ("-")
// has nothing, so that it is none.
func Index(token string) (int, bool) {
	index, err := strconv.Atoi(token)
	return index, err == nil && index >= 0 && strconv.Itoa(index) == token
}
