package schemas

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A place is where a value stands in a body; from is where its name begins,
// when it is a member of an object.
type place struct{ from, start, end int }

// places returns where every value of a body stands.
func places(tb testing.TB, body []byte) []place {
	tb.Helper()
	var found []place
	walk(tb, body, 0, 0, &found)
	return found
}

func walk(tb testing.TB, value jsontext.Value, from, start int, found *[]place) {
	tb.Helper()
	*found = append(*found, place{from, start, start + len(value)})
	kind := value.Kind()
	if kind != '{' && kind != '[' {
		return
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(value))
	if _, err := d.ReadToken(); err != nil {
		tb.Fatal(err)
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := -1
		if kind == '{' {
			quoted, err := d.ReadValue()
			if err != nil {
				tb.Fatal(err)
			}
			name = start + int(d.InputOffset()) - len(quoted)
		}
		inner, err := d.ReadValue()
		if err != nil {
			tb.Fatal(err)
		}
		at := start + int(d.InputOffset()) - len(inner)
		if name < 0 {
			name = at
		}
		walk(tb, bytes.Clone(inner), name, at, found)
	}
}
