package agent

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
)

// ErrUnreadable reports what a program has said that is not an outcome. The error says what is wrong, and quotes none of the words:
// it may be logged.
var ErrUnreadable = errors.New("what was said is no outcome")

// An unreadableError is what is wrong with what a program has said. Its text is for logs. The first bytes of the output, which may be about
// people, stand in records alone.
type unreadableError struct{ fault, begins string }

func (u *unreadableError) Error() string { return ErrUnreadable.Error() + ": " + u.fault }

func (u *unreadableError) Unwrap() error { return ErrUnreadable }

func unreadable(fault string) error { return &unreadableError{fault: fault} }

// maxBegins bounds the first bytes of unreadable output that a record holds.
const maxBegins = 40

// unreadableAt is unreadable with the first bytes of the output.
func unreadableAt(fault string, said []byte) error {
	begins := strconv.QuoteToASCII(string(said[:min(len(said), maxBegins)]))
	if len(said) > maxBegins {
		begins += "…"
	}
	return &unreadableError{fault, begins}
}

// faultIn says what is wrong with the form of an answer, for a record; empty when an error is about something else.
func faultIn(err error) string {
	if said, is := errors.AsType[*unreadableError](err); is {
		if said.begins != "" {
			return said.fault + "; it begins with " + said.begins
		}
		return said.fault
	}
	if errors.Is(err, ErrNothing) {
		return "there is no output"
	}
	if said, is := errors.AsType[*validation.Error](err); is {
		return said.Error()
	}
	return ""
}

var oneWord = regexp.MustCompile(`^[A-Za-z_-]{1,24}$`)

// statusFault says that a status is none, and which there are. A status of several words may be about people, and is not named.
func statusFault(status string) string {
	named := ""
	if oneWord.MatchString(status) {
		named = " " + strconv.Quote(status)
	}
	words := make([]string, len(statuses()))
	for i, known := range statuses() {
		words[i] = string(known)
	}
	return "the status" + named + " is none of " + strings.Join(words, ", ")
}

// misspelled reports whether an object is the payload of a response but for its status. Data may have a status as well, and even a result: it is
// a payload's if that is what a result of one looks like.
func misspelled(names map[string]jsontext.Value) bool {
	if _, has := names["status"]; !has || len(names) == 1 {
		return false
	}
	known := payloadMembers()
	for name := range names {
		if !slices.Contains(known, name) {
			return false
		}
	}
	if len(names) > 2 || len(names["result"]) == 0 {
		return true
	}
	var members map[string]jsontext.Value
	return names["result"].Kind() == '{' && schemas.Unmarshal(names["result"], &members) == nil && isResult(members)
}

// payloadMembers are the names of all that the payload of a response has.
func payloadMembers() []string {
	fields := reflect.VisibleFields(reflect.TypeFor[schemas.ResponsePayload]())
	names := make([]string, len(fields))
	for i := range fields {
		names[i], _, _ = strings.Cut(fields[i].Tag.Get("json"), ",")
	}
	return names
}

// formFault says which member of an answer has the wrong form, and what it has to be.
func formFault(err error) string {
	if wrong, is := errors.AsType[*json.SemanticError](err); is {
		fault := place(wrong.JSONPointer) + " is of type " + validation.TypeOf(wrong.JSONKind)
		if want := validation.TypeFor(wrong.GoType); want != "" {
			fault += ", want " + want
		}
		return fault
	}
	if wrong, is := errors.AsType[*jsontext.SyntacticError](err); is {
		return place(wrong.JSONPointer) + " cannot be read as JSON: a name stands there twice, or what is no UTF-8"
	}
	return "it does not decode"
}

// place is where in an answer something is, as far as the names are those of a response.
func place(at jsontext.Pointer) string {
	known := validation.Place(at)
	if known == "" {
		return "the answer"
	}
	return "the answer's " + string(known)
}
