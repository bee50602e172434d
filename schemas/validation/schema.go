package validation

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Schema is a JSON Schema (2020-12) that is ready to check. It does not change.
type Schema struct{ schema *jsonschema.Schema }

// Compile makes a schema ready that refers to nothing outside of itself.
func Compile(body []byte) (*Schema, error) { return compile(body) }

func compile(body []byte, options ...func(*jsonschema.Compiler)) (*Schema, error) {
	document, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	const location = "https://schema.invalid/schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	compiler.UseRegexpEngine(newExpressions().compile)
	for _, option := range options {
		option(compiler)
	}
	if err = compiler.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", plainSchema(err))
	}
	schema, err := compiler.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", plainSchema(err))
	}
	return &Schema{schema: schema}, nil
}

// CompileAll makes schemas ready that may refer to each other by the ids under which they
// stand. Their formats are asserted.
func CompileAll(sources map[string][]byte) (map[string]*Schema, error) {
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
	compiled := make(map[string]*Schema, len(ids))
	for _, id := range ids {
		schema, err := compiler.Compile(id)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", id, err)
		}
		compiled[id] = &Schema{schema: schema}
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

// Bounds of patterns, in instructions of the programs that they become. Repetitions multiply: "x{0,1000}" has 2,000.
const (
	maxExpression  = 5000              // of one
	maxExpressions = 4 * maxExpression // of all in a schema
)

// CheckPattern says why a pattern is not applied: RE2 cannot read it, or it becomes too large a program.
func CheckPattern(pattern string) error {
	_, err := newExpressions().compile(pattern)
	return err
}

// expressions compiles the patterns of one schema, unless they become too large programs. They come from strangers as well.
type expressions struct {
	seen map[string]bool // the library compiles each several times
	size int
}

func newExpressions() *expressions { return &expressions{seen: map[string]bool{}} }

func (e *expressions) compile(pattern string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := sizeOf(parsed)
	if !e.seen[pattern] {
		e.size += size
		e.seen[pattern] = true
	}
	if size > maxExpression || e.size > maxExpressions {
		return nil, errLarge
	}
	return regexp.Compile(pattern)
}

// sizeOf estimates the instructions of an expression. It stops to count beyond maxExpression.
func sizeOf(parsed *syntax.Regexp) int {
	size := 1
	if parsed.Op == syntax.OpLiteral {
		size = len(parsed.Rune) // of a class they are ranges, and one instruction has them all
	}
	for _, part := range parsed.Sub {
		size = min(size+sizeOf(part), maxExpression+1)
	}
	if parsed.Op == syntax.OpRepeat {
		size *= max(parsed.Min, parsed.Max, 1)
	}
	return min(size, maxExpression+1)
}

var (
	errLarge      = fmt.Errorf("a pattern in it is too large, or all of them are: with its repetitions one may have %d steps", maxExpression)
	errOutside    = errors.New("a $ref leads outside of it; only what stands in its own $defs can be referred to")
	errNoTarget   = errors.New("a $ref or $dynamicRef leads to nothing in it")
	errExpression = errors.New("a pattern in it is no regular expression")
	errNoSchema   = errors.New("its keywords cannot be understood; https://json-schema.org describes them")
)

// schemaFault says where a schema breaks that of all schemas. The only format that it is
// held to there, and that is ever wrong, is that of a regular expression.
func schemaFault(refused *jsonschema.ValidationError) error {
	if format, is := refused.ErrorKind.(*kind.Format); is {
		if errors.Is(format.Err, errLarge) {
			return errLarge
		}
		return errExpression
	}
	for _, cause := range refused.Causes {
		if fault := schemaFault(cause); errors.Is(fault, errExpression) || errors.Is(fault, errLarge) {
			return fault
		}
	}
	var problem *Error
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
	case errors.As(err, &expression) && errors.Is(expression.Err, errLarge):
		return errLarge
	case errors.As(err, &expression):
		return errExpression
	}
	return errNoSchema
}

// Validate checks a JSON value. A refused one gives an *Error that names the first place
// in the order of the pointers.
func (s *Schema) Validate(value []byte) error {
	instance, err := parseJSON(value)
	if err != nil {
		return err
	}
	var refused *jsonschema.ValidationError
	if err = s.schema.Validate(instance); errors.As(err, &refused) {
		return firstProblem(refused)
	}
	return err
}
