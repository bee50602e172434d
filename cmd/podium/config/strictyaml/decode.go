package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"podium/cmd/podium/diagnostic"
	"podium/schemas"
)

// Shorthand is a struct that may also be written as one word.
type Shorthand interface{ Shorten(text string) error }

// Refuser is a struct that knows keys only to say why they are not granted.
type Refuser interface{ Refused() map[string]string }

// form is a text of a form of its own, which it names for whoever writes another.
type form interface{ Form() string }

// A Switch is a type of words that may be written true or false as well.
type Switch interface {
	encoding.TextUnmarshaler
	Switches()
}

// Decode reads the one document of a file into a struct, by every rule that a tag can
// hold, and returns where each path of it stands. The name stands for the file in
// errors, which are diagnostic.Problems: everything that is wrong, in the order of the
// file. Lookup gives environment variables their values.
func Decode(body []byte, name string, lookup func(name string) (value string, set bool), into any) (map[string]Place, error) {
	d := &decoder{file: name, lookup: lookup, anchors: map[string]ast.Node{}, places: map[string]Place{}}
	if root := d.parse(body); root != nil {
		d.value(root, reflect.ValueOf(into).Elem(), "", "")
	}
	if err := d.problems.Sorted(); err != nil {
		return nil, err
	}
	return d.places, nil
}

type decoder struct {
	file     string
	lookup   lookupFunc
	anchors  map[string]ast.Node
	places   map[string]Place
	problems diagnostic.Problems
}

func (d *decoder) problem(at Place, path, format string, args ...any) {
	d.problems = append(d.problems, &diagnostic.Problem{
		File: d.file, Line: at.Line, Column: at.Column, Path: path, Message: unmark(fmt.Sprintf(format, args...)),
	})
}

// parse returns the one document of the file, or nil after a problem.
func (d *decoder) parse(body []byte) ast.Node {
	text := string(body)
	if anyMark.MatchString(text) {
		d.problem(Place{}, "", "the file holds characters of Unicode's private use area (U+E000 to U+E002)")
		return nil
	}
	file, err := parser.ParseBytes([]byte(markVariables(text)), 0)
	if err != nil {
		if syntax, ok := errors.AsType[yaml.Error](err); ok {
			d.problem(placeOf(syntax.GetToken()), "", "%s", yamlFault(unmark(syntax.GetMessage())))
		} else {
			d.problem(Place{}, "", fallbackFault)
		}
		return nil
	}
	var documents []ast.Node
	for _, document := range file.Docs {
		if document.Body != nil {
			documents = append(documents, document.Body)
		}
	}
	switch len(documents) {
	case 0:
		d.problem(Place{}, "", "the file is empty")
		return nil
	case 1:
		ast.Walk(anchorCollector(d.anchors), documents[0])
		return documents[0]
	default:
		d.problem(start(documents[1]), "", "the file holds more than one document")
		return nil
	}
}

// resolve follows anchors and aliases. It cannot run in a circle: an alias to
// an anchor around it ends as a mapping or list where the types allow none.
func (d *decoder) resolve(node ast.Node, path string) ast.Node {
	switch n := node.(type) {
	case *ast.AnchorNode:
		return d.resolve(n.Value, path)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := d.anchors[name]
		if _, chained := target.(*ast.AliasNode); !ok || chained {
			d.problem(start(n), path, `there is no anchor &%s; a value that begins with "*" has to be quoted`, name)
			return nil
		}
		return d.resolve(target, path)
	case *ast.TagNode:
		d.problem(start(n), path, "tags such as %s have no meaning here", n.GetToken().Value)
		return nil
	default:
		return node
	}
}

func (d *decoder) value(node ast.Node, into reflect.Value, path string, tag reflect.StructTag) {
	if node = d.resolve(node, path); node == nil {
		return
	}
	if _, compound := d.places[path]; !compound || isScalar(node) {
		d.places[path] = start(node)
	}
	if _, empty := node.(*ast.NullNode); empty {
		d.problem(start(node), path, "it has no value; give it one or remove the key")
		return
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if short, ok := reflect.TypeAssert[Shorthand](into.Addr()); ok && isText(node) {
		d.text(node, path, "text", short.Shorten)
		return
	}
	if unmarshaler, ok := reflect.TypeAssert[encoding.TextUnmarshaler](into.Addr()); ok {
		if on, ok := unmarshaler.(Switch); ok && node.Type() == ast.BoolType {
			if err := on.UnmarshalText([]byte(node.GetToken().Value)); err != nil {
				d.problem(start(node), path, "%v", err)
			}
			return
		}
		wanted := "text"
		if into.Type() == reflect.TypeFor[schemas.Duration]() {
			wanted = "a duration such as 30s"
		} else if own, ok := unmarshaler.(form); ok {
			wanted = own.Form()
		}
		d.text(node, path, wanted, func(text string) error {
			if err := unmarshaler.UnmarshalText([]byte(text)); err != nil {
				return err
			}
			if duration, ok := reflect.TypeAssert[schemas.Duration](into); ok && duration <= 0 {
				return fmt.Errorf("%s is not longer than 0", text)
			}
			return nil
		})
		return
	}
	if free, ok := reflect.TypeAssert[*jsontext.Value](into.Addr()); ok {
		d.json(node, free, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		d.section(node, into, path)
	case reflect.Map:
		d.table(node, into, path)
	case reflect.Slice:
		d.list(node, into, path, tag)
	case reflect.String:
		d.text(node, path, "text", func(text string) error {
			into.SetString(text)
			return checkWord(text, tag)
		})
	case reflect.Int:
		d.number(node, into, path, tag)
	case reflect.Float64:
		d.fraction(node, path, tag, into.SetFloat)
	case reflect.Bool:
		d.switched(node, into, path)
	default:
		panic("strictyaml: a field of kind " + into.Kind().String())
	}
}

// section reads a mapping whose keys are the fields of a struct.
func (d *decoder) section(node ast.Node, into reflect.Value, path string) {
	entries, ok := node.(ast.MapNode)
	if !ok {
		d.mismatch(node, path, "a section of keys and values")
		return
	}
	fields := Fields(into.Type())
	seen := map[string]bool{}
	for iter := entries.MapRange(); iter.Next(); {
		key := iter.Key().GetToken().Value
		at := placeOf(iter.Key().GetToken())
		index := slices.IndexFunc(fields, func(f Field) bool { return f.Key == key })
		if index < 0 {
			d.unknown(at, path, key, into, fields)
			continue
		}
		seen[key] = true
		inner := diagnostic.Under(path, key)
		d.places[inner] = at
		d.value(iter.Value(), into.FieldByIndex(fields[index].index), inner, fields[index].Tag)
	}
	for _, f := range fields {
		if f.Required() && !seen[f.Key] {
			d.problem(d.places[path], path, "%q is missing", f.Key)
		}
	}
}

func (d *decoder) unknown(at Place, path, key string, into reflect.Value, fields []Field) {
	if refuses, ok := reflect.TypeAssert[Refuser](into); ok {
		if reason, known := refuses.Refused()[key]; known {
			d.problem(at, path, "%q is refused: %s", key, reason)
			return
		}
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.Key
	}
	d.problem(at, path, "%s", diagnostic.Suggest(fmt.Sprintf("unknown key %q", key), key, keys))
}

// table reads a mapping whose keys are names.
func (d *decoder) table(node ast.Node, into reflect.Value, path string) {
	entries, ok := node.(ast.MapNode)
	if !ok {
		d.mismatch(node, path, "a section of names")
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for iter := entries.MapRange(); iter.Next(); {
		key := iter.Key().GetToken().Value
		inner := diagnostic.Under(path, key)
		d.places[inner] = placeOf(iter.Key().GetToken())
		value := reflect.New(into.Type().Elem()).Elem()
		d.value(iter.Value(), value, inner, "")
		into.SetMapIndex(reflect.ValueOf(key), value)
	}
}

func (d *decoder) list(node ast.Node, into reflect.Value, path string, tag reflect.StructTag) {
	var entries []ast.Node
	if sequence, ok := node.(*ast.SequenceNode); ok {
		entries = sequence.Values
	} else if isScalar(node) && Single(tag) {
		entries = []ast.Node{node}
	} else {
		d.mismatch(node, path, "a list")
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(entries), len(entries)))
	for i, entry := range entries {
		d.value(entry, into.Index(i), fmt.Sprintf("%s[%d]", path, i), OfEntries(tag))
	}
	if least, set := Bound(tag, "min"); set && len(entries) < least {
		d.problem(start(node), path, "the list needs at least %d entry", least)
	}
}

// text reads a word and hands it on with its variables replaced.
func (d *decoder) text(node ast.Node, path, wanted string, accept func(text string) error) {
	if !isText(node) {
		d.mismatch(node, path, wanted)
		return
	}
	text, ok := d.expanded(node, path)
	if !ok {
		return
	}
	if err := accept(text); err != nil {
		d.problem(start(node), path, "%v", err)
	}
}

func (d *decoder) number(node ast.Node, into reflect.Value, path string, tag reflect.StructTag) {
	text, ok := d.bare(node, path, ast.IntegerType, "a whole number")
	if !ok {
		return
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		d.problem(start(node), path, "%q is not a whole number", text)
		return
	}
	least, hasLeast := Bound(tag, "min")
	most, hasMost := Bound(tag, "max")
	if hasLeast && number < least || hasMost && number > most {
		d.problem(start(node), path, "%d is not between %d and %d", number, least, most)
		return
	}
	into.SetInt(int64(number))
}

func (d *decoder) switched(node ast.Node, into reflect.Value, path string) {
	text, ok := d.bare(node, path, ast.BoolType, "true or false")
	if !ok {
		return
	}
	if text != "true" && text != "false" {
		d.problem(start(node), path, "%q is neither true nor false", text)
		return
	}
	into.SetBool(text == "true")
}

// bare returns the text of a scalar of one type, or of a variable in its place.
func (d *decoder) bare(node ast.Node, path string, kind ast.NodeType, wanted string) (string, bool) {
	if node.Type() == kind {
		return node.GetToken().Value, true
	}
	if isText(node) && markedName.MatchString(textOf(node)) {
		return d.expanded(node, path)
	}
	d.mismatch(node, path, wanted)
	return "", false
}

func (d *decoder) expanded(node ast.Node, path string) (string, bool) {
	if strings.Contains(textOf(node), "${") {
		d.problem(start(node), path, `"${" begins a variable such as ${NAME}; write "$${" when it is meant literally`)
		return "", false
	}
	text, missing := expand(textOf(node), d.lookup)
	for _, name := range missing {
		d.problem(start(node), path, "the environment variable %s is not set", name)
	}
	return text, len(missing) == 0
}

// mismatch never repeats the value: it may be a password without quotes.
func (d *decoder) mismatch(node ast.Node, path, wanted string) {
	found := "something else"
	switch node.(type) {
	case ast.MapNode:
		found = "a section"
	case *ast.SequenceNode:
		found = "a list"
	case *ast.StringNode, *ast.LiteralNode:
		found = "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		found = "a number"
	case *ast.BoolNode:
		found = "true or false"
	}
	switch text := node.GetToken().Value; {
	case wanted == "text" && isScalar(node):
		found += " without quotes"
	case wanted == "a whole number" && node.Type() == ast.FloatType:
		found = "a number with a fraction"
	case found == "text" && strings.Contains(wanted, "number") && strings.Trim(text, "+-0123456789.eE") == "" && text != "":
		found = "a number that is too large, or in quotes"
	}
	d.problem(start(node), path, "expected %s, found %s", wanted, found)
}

func checkWord(text string, tag reflect.StructTag) error {
	words := strings.Fields(tag.Get("enum"))
	if len(words) == 0 || slices.Contains(words, text) {
		return nil
	}
	return errors.New(diagnostic.Suggest(fmt.Sprintf("%q is not a value that it can have", text), text, words))
}
