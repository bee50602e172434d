package arguments

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// objectIn finds the JSON object in a text that names what the schema knows: all of the text, in a
// fence, or with words around it. It returns the text without it. Of several, each counts.
func (f *Filler) objectIn(text string) written {
	taken := written{rest: text}
	const most = 64
	for at, tries := 0, 0; tries < most; tries++ {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		decoder := jsontext.NewDecoder(strings.NewReader(text[at:]))
		value, err := decoder.ReadValue()
		if err != nil {
			var syntax *jsontext.SyntacticError
			if !errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				break
			}
			at += max(1, int(syntax.ByteOffset))
			continue
		}
		end := at + int(decoder.InputOffset())
		if object, err := parseObject(value); err == nil {
			if known := f.unwrap(object); known != nil {
				taken.rest = strings.Replace(taken.rest, text[at:end], " ", 1)
				taken.join(known)
			}
		}
		at = end
	}
	return taken
}

// What is written as JSON in a text.
type written struct {
	object object // nil: nothing
	rest   string // the text around it
	clash  []clash
}

// A clash is one place with two values.
type clash struct {
	names    []string
	readings []string
}

// unwrap is the object that has names of the schema: itself, or a member of it.
func (f *Filler) unwrap(outer object) object {
	if f.names(outer) {
		return outer
	}
	var inner object
	outer.members(func(member object) {
		if inner == nil && f.names(member) {
			inner = member
		}
	})
	return inner
}

// members calls visit with each member that is an object.
func (o object) members(visit func(object)) {
	names := make([]string, 0, len(o))
	o.leaves(nil, func(path []string, _ any) {
		if !slices.Contains(names, path[0]) {
			names = append(names, path[0])
		}
	})
	for _, name := range names {
		if inner, ok := o[name].(object); ok {
			visit(inner)
		}
	}
}

// names says whether an object has a name that the schema knows.
func (f *Filler) names(members object) bool {
	return slices.ContainsFunc(f.document.properties, func(p property) bool {
		if len(p.names) > 1 {
			return false
		}
		known := false
		members.leaves(nil, func(path []string, _ any) { known = known || strings.EqualFold(path[0], p.names[0]) })
		return known
	})
}

// join adds a second object to the first. Where they differ, nobody can say which is meant.
func (w *written) join(second object) {
	if w.object == nil {
		w.object = second
		return
	}
	second.leaves(nil, func(names []string, value any) {
		before, there := w.object.get(names)
		if !there {
			w.object.set(names, value)
		} else if unquoted(value) != unquoted(before) {
			w.clash = append(w.clash, clash{names: names, readings: []string{unquoted(before), unquoted(value)}})
		}
	})
}
