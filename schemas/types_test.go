package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// goTypes are the Go types of the schemas.
func goTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"agent":                       reflect.TypeFor[Agent](),
		"alive":                       reflect.TypeFor[Alive](),
		"chat_received":               reflect.TypeFor[ChatReceived](),
		"checkpoint":                  reflect.TypeFor[Checkpoint](),
		"control":                     reflect.TypeFor[Control](),
		"email_received":              reflect.TypeFor[EmailReceived](),
		"error":                       reflect.TypeFor[Error](),
		EnvelopeTypeExecutionRequest:  reflect.TypeFor[ExecutionRequest](),
		EnvelopeTypeExecutionResponse: reflect.TypeFor[ExecutionResponse](),
		"partial":                     reflect.TypeFor[Partial](),
		"permit_answer":               reflect.TypeFor[PermitAnswer](),
		EnvelopeTypePermitRequest:     reflect.TypeFor[PermitRequest](),
		"profile":                     reflect.TypeFor[Profile](),
		EnvelopeTypeProgressUpdate:    reflect.TypeFor[ProgressUpdate](),
		"quarantined":                 reflect.TypeFor[Quarantined](),
		"record":                      reflect.TypeFor[Record](),
		"route_decision":              reflect.TypeFor[RouteDecision](),
		"source_status":               reflect.TypeFor[SourceStatus](),
		"task_plan":                   reflect.TypeFor[TaskPlan](),
	}
}

type node = map[string]any

func document(tb testing.TB, name string) node {
	tb.Helper()
	text, err := Schema(name)
	if err != nil {
		tb.Fatal(err)
	}
	var doc node
	if err := json.Unmarshal(text, &doc); err != nil {
		tb.Fatal(err)
	}
	return doc
}

// resolve follows a $ref and returns the schema and the document it stands in.
func resolve(tb testing.TB, doc, schema node) (node, node) {
	tb.Helper()
	ref, ok := schema["$ref"].(string)
	if !ok {
		return doc, schema
	}
	if name, local := strings.CutPrefix(ref, "#/$defs/"); local {
		target, ok := doc["$defs"].(node)[name].(node)
		if !ok {
			tb.Fatalf("$ref %s leads nowhere", ref)
		}
		return doc, target
	}
	name := strings.TrimSuffix(strings.TrimPrefix(ref, schemaBase), ".v1.json")
	target := document(tb, name)
	return target, target
}

type goField struct {
	name    string
	index   []int
	kind    reflect.Type
	omitted bool // when zero
}

func goFields(of reflect.Type) []goField {
	var fields []goField
	for _, field := range reflect.VisibleFields(of) {
		if field.Anonymous || !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "embed" {
			for _, inner := range goFields(field.Type.Elem()) {
				inner.index = slices.Concat(field.Index, inner.index)
				fields = append(fields, inner)
			}
			continue
		}
		fields = append(fields, goField{name, field.Index, field.Type, strings.Contains(options, "omit")})
	}
	return fields
}

// goMembers returns the members of a struct, and of a fact all its names.
func goMembers(tb testing.TB, of reflect.Type) []goField {
	tb.Helper()
	if of != reflect.TypeFor[Fact]() {
		return goFields(of)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "fact.go", nil, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var names []goField
	ast.Inspect(file, func(n ast.Node) bool {
		if clause, is := n.(*ast.CaseClause); is {
			name, err := strconv.Unquote(clause.List[0].(*ast.BasicLit).Value)
			if err != nil {
				tb.Fatal(err)
			}
			names = append(names, goField{name: name, kind: reflect.TypeOf(newFact(name)), omitted: true})
		}
		return true
	})
	return names
}

// A comparison walks a schema and a Go type side by side.
type comparison struct {
	tb    testing.TB
	enums map[string][]string // constants by Go type
	used  map[string]bool     // $defs that were reached
}

func (c *comparison) compare(doc, schema node, of reflect.Type, at string) {
	c.tb.Helper()
	if ref, ok := schema["$ref"].(string); ok && strings.HasPrefix(ref, "#/$defs/") {
		c.used[strings.TrimPrefix(ref, "#/$defs/")] = true
	}
	if _, described := schema["description"]; !described && schema["$ref"] == nil && !strings.HasSuffix(at, "[]") {
		c.tb.Errorf("%s has no description", at)
	}
	doc, schema = resolve(c.tb, doc, schema)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	want := schemaKind(schema)
	if got := goKind(of); got != want {
		c.tb.Errorf("%s: the schema says %s, Go says %s (%s)", at, want, got, of)
		return
	}
	switch want {
	case "object":
		c.object(doc, schema, of, at)
	case "map":
		c.compare(doc, schema["additionalProperties"].(node), of.Elem(), at+"[]")
	case "array":
		c.compare(doc, schema["items"].(node), of.Elem(), at+"[]")
	case "string":
		c.constants(schema, of, at)
	}
}

func (c *comparison) object(doc, schema node, of reflect.Type, at string) {
	c.tb.Helper()
	properties := schema["properties"].(node)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			c.tb.Errorf("%s requires %s, which it does not describe", at, name)
		}
	}
	seen := map[string]bool{}
	for _, field := range goMembers(c.tb, of) {
		seen[field.name] = true
		property, ok := properties[field.name].(node)
		if !ok {
			c.tb.Errorf("%s.%s is in Go and not in the schema", at, field.name)
			continue
		}
		needed := slices.Contains(required, any(field.name))
		if needed && field.omitted && field.name != "in_reply_to" {
			c.tb.Errorf("%s.%s is required, Go omits it when zero", at, field.name)
		}
		c.compare(doc, property, field.kind, at+"."+field.name)
	}
	for name := range properties {
		if !seen[name] {
			c.tb.Errorf("%s.%s is in the schema and not in Go", at, name)
		}
	}
}

// constants compares an enum with the constants of the Go type.
func (c *comparison) constants(schema node, of reflect.Type, at string) {
	c.tb.Helper()
	constants := c.enums[of.Name()]
	if of.Kind() != reflect.String || of.PkgPath() == "" || constants == nil {
		return
	}
	values, ok := schema["enum"].([]any)
	if !ok {
		c.tb.Errorf("%s: Go has constants of type %s, the schema no enum", at, of.Name())
		return
	}
	var enum []string
	for _, value := range values {
		enum = append(enum, value.(string))
	}
	slices.Sort(enum)
	if !slices.Equal(enum, constants) {
		c.tb.Errorf("%s: the schema says %q, Go says %q", at, enum, constants)
	}
}

func schemaKind(schema node) string {
	if schema["const"] != nil {
		return "string"
	}
	switch kind := schema["type"].(type) {
	case string:
		switch {
		case kind == "object" && schema["properties"] != nil:
			return "object"
		case kind == "object" && schema["additionalProperties"] != nil:
			return "map"
		case kind == "object":
			return "any"
		case schema["contentEncoding"] == "base64":
			return "bytes"
		case schema["format"] == "date-time":
			return "time"
		}
		return kind
	default:
		return "any"
	}
}

func goKind(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[jsontext.Value](), reflect.TypeFor[LanguageCheck]():
		return "any"
	case reflect.TypeFor[[]byte]():
		return "bytes"
	case reflect.TypeFor[Duration]():
		return "string"
	}
	switch of.Kind().String() {
	case "struct", "interface":
		return "object"
	case "slice":
		return "array"
	case "bool":
		return "boolean"
	case "float64":
		return "number"
	case "int", "int64", "uint32", "uint64":
		return "integer"
	}
	return of.Kind().String()
}

// declaredConstants reads the string constants of each named type from the source.
func declaredConstants(tb testing.TB) map[string][]string {
	tb.Helper()
	constants := map[string][]string{}
	entries, err := os.ReadDir(".")
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		if err != nil {
			tb.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, named := spec.Type.(*ast.Ident)
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if named && isLiteral && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					tb.Fatal(err)
				}
				if value != "" { // the zero value is left out
					constants[of.Name] = append(constants[of.Name], value)
				}
			}
			return true
		})
	}
	for _, values := range constants {
		slices.Sort(values)
	}
	return constants
}

func TestTypesMatchSchemas(t *testing.T) {
	t.Parallel()
	types := goTypes()
	if names := slices.Sorted(maps.Keys(types)); !slices.Equal(names, Names()) {
		t.Fatalf("types %q, schemas %q", names, Names())
	}
	enums := declaredConstants(t)
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := document(t, name)
			c := &comparison{tb: t, enums: enums, used: map[string]bool{}}
			c.compare(doc, doc, types[name], name)
			defs, _ := doc["$defs"].(node)
			for def := range defs {
				if !c.used[def] {
					t.Errorf("$defs/%s is used by nobody", def)
				}
			}
		})
	}
}

// A definition that several files hold says the same in each of them.
func TestSharedDefinitionsAgree(t *testing.T) {
	t.Parallel()
	first := map[string]string{}
	for _, name := range Names() {
		doc := document(t, name)
		if doc["$id"] != SchemaID(name) || doc["$schema"] != "https://json-schema.org/draft/2020-12/schema" || doc["title"] == nil {
			t.Errorf("%s: $id %v, $schema %v, title %v", name, doc["$id"], doc["$schema"], doc["title"])
		}
		defs, _ := doc["$defs"].(node)
		for def, schema := range defs {
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if known, ok := first[def]; ok && known != string(text) {
				t.Errorf("%s: $defs/%s differs from the one in another file", name, def)
			}
			first[def] = string(text)
		}
	}
}

// A filler makes a Go value that its schema allows.
type filler struct {
	tb   testing.TB
	full bool // optional fields too
}

func (f *filler) fill(doc, schema node, value reflect.Value) {
	f.tb.Helper()
	doc, schema = resolve(f.tb, doc, schema)
	if value.Kind() == reflect.Pointer {
		value.Set(reflect.New(value.Type().Elem()))
		value = value.Elem()
	}
	switch goKind(value.Type()) {
	case "object":
		f.object(doc, schema, value)
	case "map":
		element := reflect.New(value.Type().Elem()).Elem()
		f.fill(doc, schema["additionalProperties"].(node), element)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.ValueOf("agent").Convert(value.Type().Key()), element)
	case "array":
		f.array(doc, schema, value)
	case "time":
		value.Set(reflect.ValueOf(time.Date(2026, 1, 31, 12, 0, 0, 123, time.UTC)))
	case "any":
		if value.Type() == reflect.TypeFor[LanguageCheck]() {
			value.SetString("text1")
			return
		}
		value.Set(reflect.ValueOf(jsontext.Value(`{"a":[1,null]}`)))
	case "bytes":
		value.SetBytes([]byte{0, 255})
	case "boolean":
		value.SetBool(true)
	case "number":
		value.SetFloat(0.5)
	case "integer":
		if value.CanInt() {
			value.SetInt(1)
		} else {
			value.SetUint(1)
		}
	case "string":
		if value.Type() == reflect.TypeFor[Duration]() {
			value.SetInt(int64(90 * time.Second))
		} else {
			value.SetString(f.text(schema))
		}
	}
}

func (f *filler) object(doc, schema node, value reflect.Value) {
	f.tb.Helper()
	required, _ := schema["required"].([]any)
	properties := schema["properties"].(node)
	for _, field := range goFields(value.Type()) {
		if f.full || slices.Contains(required, any(field.name)) {
			property, ok := properties[field.name].(node)
			if !ok {
				f.tb.Fatalf("%s.%s is not in the schema", value.Type(), field.name)
			}
			f.fill(doc, property, fieldOf(value, field.index))
		}
	}
}

// fieldOf returns a field, and makes the embedded structs that it is in.
func fieldOf(value reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				value.Set(reflect.New(value.Type().Elem()))
			}
			value = value.Elem()
		}
		value = value.Field(i)
	}
	return value
}

// array makes one element, or one for each choice when an element is a choice.
func (f *filler) array(doc, schema node, value reflect.Value) {
	f.tb.Helper()
	doc, item := resolve(f.tb, doc, schema["items"].(node))
	if item["maxProperties"] == nil {
		element := reflect.New(value.Type().Elem()).Elem()
		f.fill(doc, item, element)
		value.Set(reflect.Append(value, element))
		return
	}
	for _, field := range goMembers(f.tb, value.Type().Elem()) {
		element := reflect.New(field.kind).Elem()
		f.fill(doc, item["properties"].(node)[field.name].(node), element)
		value.Set(reflect.Append(value, element))
	}
}

func (f *filler) text(schema node) string {
	f.tb.Helper()
	if value, ok := schema["const"].(string); ok {
		return value
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[len(values)-1].(string)
	}
	if schema["format"] == "uuid" {
		return "0b7c1e9e-6d0e-4c1b-9f5e-1a2b3c4d5e6f"
	}
	switch pattern, _ := schema["pattern"].(string); {
	case strings.Contains(pattern, "RESPOND"):
		return RouteRespond
	case strings.Contains(pattern, "{64}"):
		return strings.Repeat("0a", 32)
	}
	return "agent"
}

// Go values that hold everything, and Go values that hold what is required,
// are written as their schema says and read without loss.
func TestGoValuesValidate(t *testing.T) {
	t.Parallel()
	for name, of := range goTypes() {
		for _, full := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/full=%t", name, full), func(t *testing.T) {
				t.Parallel()
				doc := document(t, name)
				value := reflect.New(of)
				f := &filler{tb: t, full: full}
				f.fill(doc, doc, value.Elem())
				body, err := Marshal(value.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if err := validate(name, body); err != nil {
					t.Fatalf("%s\n%v", body, err)
				}
				again := reflect.New(of)
				if err := Unmarshal(body, again.Interface()); err != nil {
					t.Fatal(err)
				}
				twice, err := Marshal(again.Interface())
				if err != nil || !bytes.Equal(body, twice) {
					t.Fatalf("%s\nthen %s (%v)", body, twice, err)
				}
				if read := readers()[name]; read != nil {
					if err := read(body); err != nil {
						t.Fatalf("%s\ndecoder: %v", body, err)
					}
				}
			})
		}
	}
}
