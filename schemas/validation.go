package schemas

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	schemaSuffix = ".schema.json"
	schemaBase   = "https://podium.dev/schemas/"
)

//go:embed *.schema.json asyncapi.yaml
var files embed.FS

// SchemaID returns the $id of a schema, which is the dataschema attribute of
// the events whose data it describes.
func SchemaID(name string) string { return schemaBase + name + ".v1.json" }

// Names returns the names of all schemas in lexical order.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), schemaSuffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// Schema returns the JSON Schema (2020-12) of that name as it stands in its
// file. It fails for a name that Names does not list.
func Schema(name string) ([]byte, error) {
	text, err := files.ReadFile(path.Clean(name) + schemaSuffix)
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q; the schemas are %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}

// AsyncAPI returns the AsyncAPI 3 description of the bus.
func AsyncAPI() ([]byte, error) { return files.ReadFile("asyncapi.yaml") }

// Validate checks a body against the schema of that name, and what the schema
// cannot say: assignments agree with their tasks (M-06), a task has one place
// (M-15). A refused body gives an *InvalidMessageError that names the first
// place in the order of the pointers; an unknown name gives another error.
func Validate(name string, body []byte) error {
	if err := validate(name, body); err != nil {
		return err
	}
	switch name {
	case ExecutionRequestType:
		_, err := DecodeExecutionRequest(body)
		return err
	case ProgressUpdateType:
		_, err := DecodeProgressUpdate(body)
		return err
	}
	return nil
}

// validate is the verdict of the schema alone.
func validate(name string, body []byte) error {
	compiled, err := library()
	if err != nil {
		return err
	}
	schema, ok := compiled[SchemaID(name)]
	if !ok {
		_, err := Schema(name)
		return err
	}
	return schema.Validate(body)
}

// What is made of the schemas once. It is read by all and written by none.
//
//nolint:gochecknoglobals // immutable after its first use
var (
	library      = sync.OnceValues(compileSchemas)
	readRequest  = readerOf[ExecutionRequest](ExecutionRequestType)
	readResponse = readerOf[ExecutionResponse](ExecutionResponseType)
	readProgress = readerOf[ProgressUpdate](ProgressUpdateType)
)

func compileSchemas() (map[string]*Check, error) {
	sources := map[string][]byte{}
	for _, name := range Names() {
		text, err := Schema(name)
		if err != nil {
			return nil, err
		}
		sources[SchemaID(name)] = text
	}
	return CompileAll(sources)
}

// readerOf returns a reader that is made at its first use.
func readerOf[T any](name string) Reader[T] {
	made := sync.OnceValues(func() (Reader[T], error) {
		schema, err := Schema(name)
		if err != nil {
			return nil, err
		}
		return NewReader[T](schema)
	})
	return func(body []byte) (T, error) {
		read, err := made()
		if err != nil {
			var none T
			return none, err
		}
		return read(body)
	}
}

// CompileAll makes schemas ready that may refer to each other by the ids under which they
// stand. Their formats are asserted.
func CompileAll(sources map[string][]byte) (map[string]*Check, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: validateTime})
	ids := slices.Sorted(maps.Keys(sources))
	for _, id := range ids {
		document, err := parseJSON(sources[id])
		if err == nil {
			err = compiler.AddResource(id, document)
		}
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", id, err)
		}
	}
	compiled := make(map[string]*Check, len(ids))
	for _, id := range ids {
		schema, err := compiler.Compile(id)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", id, err)
		}
		compiled[id] = &Check{schema: schema}
	}
	return compiled, nil
}

func validateTime(value any) error {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	if _, ok := parseTime(text); !ok {
		return errors.New("not a time")
	}
	return nil
}

// parseJSON reads I-JSON (RFC 7493) into the values that the library walks.
func parseJSON(body []byte) (any, error) {
	var value any
	err := decode(body, func(d *decoder) { value = d.any() })
	return value, err
}

func (d *decoder) any() any {
	if d.err != nil {
		return nil
	}
	switch byte(d.tokens.PeekKind()) {
	case '{':
		return dictionary(d, (*decoder).any)
	case '[':
		return list(d, (*decoder).any)
	case '"':
		return d.text()
	case '0':
		value, _ := d.value('0', typeNumber)
		return parseNumber(string(value))
	case 't', 'f':
		return d.boolean()
	}
	d.value('n', typeNull)
	return nil
}

// firstProblem picks one of the library's complaints, always the same one.
func firstProblem(refused *jsonschema.ValidationError) error {
	problems := leaves(refused, nil)
	if len(problems) == 0 {
		return &InvalidMessageError{Reason: "does not match its schema"}
	}
	return slices.MinFunc(problems, func(a, b *InvalidMessageError) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Reason, b.Reason))
	})
}

func leaves(refused *jsonschema.ValidationError, found []*InvalidMessageError) []*InvalidMessageError {
	if len(refused.Causes) == 0 {
		var pointer jsontext.Pointer
		for _, token := range refused.InstanceLocation {
			pointer = pointer.AppendToken(token)
		}
		return append(found, &InvalidMessageError{Pointer: string(pointer), Reason: reason(refused.ErrorKind)})
	}
	for _, cause := range refused.Causes {
		found = leaves(cause, found)
	}
	return found
}

// reason says what is wrong in the words of our own checks.
func reason(problem jsonschema.ErrorKind) string {
	switch problem := problem.(type) {
	case *kind.Type:
		return wrongType(problem.Got, strings.Join(problem.Want, " or "))
	case *kind.Required:
		return lacks(slices.Min(problem.Missing))
	case *kind.Enum:
		return noneOf(texts(problem.Want))
	case *kind.Const:
		return noneOf(texts([]any{problem.Want}))
	case *kind.Format:
		if problem.Want == "date-time" {
			return reasonTime
		}
		return reasonUUID
	case *kind.Pattern:
		return noMatch(problem.Want)
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		return reasonEmpty
	case *kind.MaxLength:
		return tooLong(problem.Want)
	case *kind.MaxItems:
		return tooMany(problem.Want)
	case *kind.MaxProperties:
		return tooMany(problem.Want)
	case *kind.Minimum:
		return tooSmall(problem.Want.RatString())
	case *kind.Maximum:
		return tooLarge(problem.Want.RatString())
	}
	return "breaks " + strings.Join(problem.KeywordPath(), "/")
}

func texts(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return texts
}
