package validation

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Problem is one of the things that are wrong with a value.
type Problem struct {
	Pointer string // JSON Pointer; of what is missing, the place where it would stand
	Reason  string // English, one line, without a value
	Missing bool   // it is required, and not there
}

// CompileAsserted makes a schema ready as Compile does, and holds values to its formats too.
func CompileAsserted(body []byte) (*Schema, error) {
	return compile(body, (*jsonschema.Compiler).AssertFormat)
}

// Problems says everything that is wrong with a value, in the order of the pointers; nothing when
// it is right. Of alternatives (anyOf, oneOf) it tells one: the one whose constants
// the value has, and of those the one that lacks least, the first if several do.
func (s *Schema) Problems(value []byte) ([]Problem, error) { return s.problems(value, nearest) }

// Lacks is as Problems, and of alternatives that lack as little tells all: any one of what is missing there is enough.
func (s *Schema) Lacks(value []byte) ([]Problem, error) { return s.problems(value, nearestOnes) }

// A chooser says which of the alternatives a value was meant for.
type chooser func([]*jsonschema.ValidationError) []*jsonschema.ValidationError

func (s *Schema) problems(value []byte, meant chooser) ([]Problem, error) {
	instance, err := parseJSON(value)
	if err != nil {
		return nil, err
	}
	err = s.schema.Validate(instance)
	var refused *jsonschema.ValidationError
	if !errors.As(err, &refused) {
		return nil, err
	}
	problems := problemsOf(refused, meant)
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(problems), nil
}

func problemsOf(refused *jsonschema.ValidationError, meant chooser) []Problem {
	causes := refused.Causes
	if len(causes) == 0 {
		return leafProblems(refused)
	}
	switch refused.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		causes = meant(causes)
	}
	var all []Problem
	for _, cause := range causes {
		all = append(all, problemsOf(cause, meant)...)
	}
	return all
}

// nearest is the alternative that the value was meant for.
func nearest(alternatives []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	return []*jsonschema.ValidationError{slices.MinFunc(alternatives, distance)}
}

// nearestOnes are the alternatives of which none is nearer, if they only lack something.
func nearestOnes(alternatives []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	one := nearest(alternatives)
	for _, other := range alternatives {
		lacking := !slices.ContainsFunc(problemsOf(other, nearest), func(p Problem) bool { return !p.Missing })
		if other != one[0] && lacking && distance(one[0], other) == 0 {
			one = append(one, other)
		}
	}
	return one
}

func distance(a, b *jsonschema.ValidationError) int {
	return cmp.Or(cmp.Compare(mismatches(a), mismatches(b)), cmp.Compare(len(problemsOf(a, nearest)), len(problemsOf(b, nearest))))
}

// mismatches counts the constants and types that a value does not have.
func mismatches(refused *jsonschema.ValidationError) int {
	switch refused.ErrorKind.(type) {
	case *kind.Const, *kind.Enum, *kind.Type, *kind.FalseSchema:
		return 1
	}
	count := 0
	for _, cause := range refused.Causes {
		count += mismatches(cause)
	}
	return count
}

func leafProblems(refused *jsonschema.ValidationError) []Problem {
	var at jsontext.Pointer
	for _, token := range refused.InstanceLocation {
		at = at.AppendToken(token)
	}
	var missing []string
	switch problem := refused.ErrorKind.(type) {
	case *kind.Required:
		missing = problem.Missing
	case *kind.DependentRequired:
		missing = problem.Missing
	case *kind.Dependency:
		missing = problem.Missing
	default:
		return []Problem{{Pointer: string(at), Reason: reason(refused.ErrorKind)}}
	}
	problems := make([]Problem, len(missing))
	for i, name := range missing {
		problems[i] = Problem{Pointer: string(at.AppendToken(name)), Reason: "is missing", Missing: true}
	}
	return problems
}
