package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// An Error says where a body breaks its schema and what would be right. It quotes no value
// of the body, so it may be logged (G-37).
type Error struct {
	Pointer string // JSON Pointer (RFC 6901) into the body; empty is the whole body
	Reason  string // English, one line
}

// Error implements error.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return "invalid message: " + e.Reason
	}
	return "invalid message at " + e.Pointer + ": " + e.Reason
}

// The reasons, in one place, so that both checks say the same of the same fault.
const (
	reasonEmpty = "is empty"
	reasonUUID  = "is not a UUID"
	reasonTime  = "is not an RFC 3339 time such as 2026-01-31T12:00:00Z"
)

func wrongType(got, want string) string { return "is of type " + got + ", want " + want }
func lacks(name string) string          { return "lacks " + strconv.Quote(name) }
func noneOf(allowed []string) string    { return "is not one of: " + strings.Join(allowed, ", ") }
func noMatch(pattern string) string     { return "does not match " + pattern }
func tooLong(limit int) string          { return "is longer than " + strconv.Itoa(limit) + " characters" }

func tooMany(limit int) string     { return "has more than " + strconv.Itoa(limit) + " elements" }
func tooSmall(limit string) string { return "is less than " + limit }
func tooLarge(limit string) string { return "is more than " + limit }

// firstProblem picks one of the library's complaints, always the same one.
func firstProblem(refused *jsonschema.ValidationError) error {
	problems := leaves(refused, nil)
	if len(problems) == 0 {
		return &Error{Reason: "does not match its schema"}
	}
	return slices.MinFunc(problems, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Reason, b.Reason))
	})
}

func leaves(refused *jsonschema.ValidationError, found []*Error) []*Error {
	if len(refused.Causes) == 0 {
		var pointer jsontext.Pointer
		for _, token := range refused.InstanceLocation {
			pointer = pointer.AppendToken(token)
		}
		return append(found, &Error{Pointer: string(pointer), Reason: reason(refused.ErrorKind)})
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
		switch problem.Want {
		case "date-time":
			return reasonTime
		case "uuid":
			return reasonUUID
		}
		return "is not of the format " + problem.Want
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
