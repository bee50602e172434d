package schemas

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Check is a JSON Schema (2020-12) that an agent is held to. It is immutable
// and refers to nothing outside of itself.
type Check struct{ schema *jsonschema.Schema }

// CompileCheck makes a schema ready.
func CompileCheck(body []byte) (*Check, error) {
	document, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	const location = schemaBase + "check.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err = compiler.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	schema, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &Check{schema: schema}, nil
}

// Validate checks a JSON value; nothing at all counts as null. A refused value
// gives an *InvalidMessageError that names the first place.
func (c *Check) Validate(value []byte) error {
	if len(value) == 0 {
		value = []byte("null")
	}
	instance, err := parseJSON(value)
	if err != nil {
		return err
	}
	var refused *jsonschema.ValidationError
	if err = c.schema.Validate(instance); errors.As(err, &refused) {
		return firstProblem(refused)
	}
	return err
}
