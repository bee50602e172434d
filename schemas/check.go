package schemas

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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
		return nil, fmt.Errorf("not a JSON Schema: %w", plainSchema(err))
	}
	schema, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", plainSchema(err))
	}
	return &Check{schema: schema}, nil
}

var (
	errOutside    = errors.New("a $ref leads outside of it; only what stands in its own $defs can be referred to")
	errNoTarget   = errors.New("a $ref or $dynamicRef leads to nothing in it")
	errExpression = errors.New("a pattern in it is no regular expression")
	errNoSchema   = errors.New("its keywords cannot be understood; https://json-schema.org describes them")
)

// schemaFault says where a schema breaks that of all schemas. The only format that it is
// held to there, and that is ever wrong, is that of a regular expression.
func schemaFault(refused *jsonschema.ValidationError) error {
	if _, format := refused.ErrorKind.(*kind.Format); format {
		return errExpression
	}
	for _, cause := range refused.Causes {
		if fault := schemaFault(cause); errors.Is(fault, errExpression) {
			return fault
		}
	}
	var problem *InvalidMessageError
	if !errors.As(firstProblem(refused), &problem) || problem.Pointer == "" {
		return errNoSchema
	}
	return fmt.Errorf("%s %s", problem.Pointer, problem.Reason)
}

// plainSchema says what is wrong with a schema without the words of the library.
func plainSchema(err error) error {
	var refused *jsonschema.ValidationError
	var invalid *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var pointer *jsonschema.JSONPointerNotFoundError
	var anchor *jsonschema.AnchorNotFoundError
	var expression *jsonschema.InvalidRegexError
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &refused):
		return schemaFault(refused)
	case errors.As(err, &load):
		return errOutside
	case errors.As(err, &pointer), errors.As(err, &anchor):
		return errNoTarget
	case errors.As(err, &expression):
		return errExpression
	}
	return errNoSchema
}

// Validate checks a JSON value. A refused one gives an *InvalidMessageError that names the
// first place in the order of the pointers.
func (c *Check) Validate(value []byte) error {
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
