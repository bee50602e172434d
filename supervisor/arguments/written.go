package arguments

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// objectIn finds the JSON object in a text that names what the schema knows: all of the text, in a
// fence, or with words around it. It returns the text without it.
func (f *Filler) objectIn(text string) (object, string, bool) {
	var taken object
	rest := text
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
		if written, err := parseObject(value); err == nil {
			if known := f.unwrap(written); known != nil {
				rest = strings.Replace(rest, text[at:end], " ", 1)
				taken = f.join(taken, known)
			}
		}
		at = end
	}
	return taken, rest, taken != nil
}

// unwrap is the object that has names of the schema: itself, or a member of it.
func (f *Filler) unwrap(written object) object {
	if f.names(written) {
		return written
	}
	var inner object
	written.members(func(member object) {
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
func (f *Filler) names(written object) bool {
	return slices.ContainsFunc(f.document.properties, func(p property) bool {
		if len(p.names) > 1 {
			return false
		}
		known := false
		written.leaves(nil, func(path []string, _ any) { known = known || strings.EqualFold(path[0], p.names[0]) })
		return known
	})
}

// join adds a second object to the first. Where they differ, both are void: nobody can say which is meant.
func (f *Filler) join(first, second object) object {
	if first == nil {
		return second
	}
	second.leaves(nil, func(names []string, value any) {
		before, there := first.get(names)
		raw, isValue := before.(jsontext.Value)
		switch {
		case !there:
			first.set(names, value)
		case isValue && unquoted(value) != unquoted(raw):
			first.remove(names)
		}
	})
	return first
}
