package schemas

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"podium/schemas/validation"
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
// (M-15). A refused body gives a *validation.Error that names the first place
// in the order of the pointers; an unknown name gives another error.
func Validate(name string, body []byte) error {
	if err := validate(name, body); err != nil {
		return err
	}
	switch name {
	case EnvelopeTypeExecutionRequest:
		_, err := DecodeExecutionRequest(body)
		return err
	case EnvelopeTypeProgressUpdate:
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
	readRequest  = readerOf[ExecutionRequest](EnvelopeTypeExecutionRequest)
	readResponse = readerOf[ExecutionResponse](EnvelopeTypeExecutionResponse)
	readProgress = readerOf[ProgressUpdate](EnvelopeTypeProgressUpdate)
)

func compileSchemas() (map[string]*validation.Schema, error) {
	sources := map[string][]byte{}
	for _, name := range Names() {
		text, err := Schema(name)
		if err != nil {
			return nil, err
		}
		sources[SchemaID(name)] = text
	}
	return validation.CompileAll(sources)
}

// readerOf returns a reader that is made at its first use.
func readerOf[T any](name string) validation.Reader[T] {
	made := sync.OnceValues(func() (validation.Reader[T], error) {
		schema, err := Schema(name)
		if err != nil {
			return nil, err
		}
		return validation.NewReader[T](schema)
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
