package planfile

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is a value of the file and where it begins.
type node struct {
	kind     jsontext.Kind
	at       int64 // in bytes
	text     string
	literal  string   // of a number
	members  []member // of an object, in the order of the file; names may repeat
	elements []*node  // of a list
}

type member struct {
	name  string
	at    int64
	value *node
}

// member returns the value of a name; nil when there is none.
func (n *node) member(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// maxDepth bounds what is read into the tree: what a plan may nest is far below it.
const maxDepth = 1000

var errDeep = errors.New("it is nested too deep")

// parse reads one JSON value that is all of the file. When it fails, the node has the
// place alone.
func parse(body []byte) (*node, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return &node{}, errors.New("it is empty")
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	root, err := read(decoder, 0)
	if err != nil {
		return unreadable(body, decoder, err)
	}
	if rest := bytes.TrimLeft(body[decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &node{at: int64(len(body) - len(rest))}, errors.New("something stands behind the end of the plan")
	}
	return root, nil
}

func read(decoder *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	kind := decoder.PeekKind()
	if kind != '{' && kind != '[' {
		return scalar(decoder)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	made := &node{kind: kind, at: decoder.InputOffset() - 1}
	for next := decoder.PeekKind(); next != '}' && next != ']'; next = decoder.PeekKind() {
		var named member
		if kind == '{' {
			name, err := scalar(decoder)
			if err != nil {
				return nil, err
			}
			named.name, named.at = name.text, name.at
		}
		value, err := read(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		if named.value = value; kind == '{' {
			made.members = append(made.members, named)
		} else {
			made.elements = append(made.elements, value)
		}
	}
	_, err := decoder.ReadToken()
	return made, err
}

func scalar(decoder *jsontext.Decoder) (*node, error) {
	value, err := decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	made := &node{kind: value.Kind(), at: decoder.InputOffset() - int64(len(value))}
	switch made.kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return nil, err
		}
		made.text = string(text)
	case '0':
		made.literal = string(value)
	}
	return made, nil
}

// unreadable says in plain words why a text is no JSON, and where.
func unreadable(body []byte, decoder *jsontext.Decoder, err error) (*node, error) {
	at := &node{at: decoder.InputOffset()}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		at.at = syntax.ByteOffset
	}
	switch {
	case errors.Is(err, errDeep):
		return at, errDeep
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return at, errors.New("it ends too early; a bracket, brace or quote is not closed")
	case at.at < int64(len(body)) && !utf8.Valid(body):
		return at, errors.New("it is not JSON from here on; save it as UTF-8, and look for a missing quote, comma or brace")
	}
	return at, errors.New("it is not JSON from here on; look for a missing quote, comma or brace")
}

// position is where an offset is, as editors count.
func position(text []byte, offset int64) (line, column int) {
	before := text[:max(0, min(offset, int64(len(text))))]
	line = bytes.Count(before, []byte("\n")) + 1
	column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}

// found says what a value is.
func (n *node) found() string {
	switch n.kind {
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "null"
}
