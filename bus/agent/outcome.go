package agent

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// An Outcome is what a Handler has made of a request: all that an execution_response can say
// (M-07…M-13). Nothing of it is dropped on the way to whoever asked.
type Outcome struct {
	// Status is completed when empty. A partial outcome needs a result. A blocked one says by
	// Needs, an Operation or an issue what it waits for. A failed one is best told by a *Failure.
	Status schemas.ResponseStatus
	schemas.Result
	schemas.Findings
	Deliverables []schemas.Deliverable
	// Usage is what the work has cost; times that it does not say are measured.
	Usage *schemas.ResourceUsage
	// Needs are what is lacking, and Operation what is proposed to a person, when it is blocked.
	Needs     []schemas.Need
	Operation *schemas.Operation
}

// Text is the outcome that is nothing but words for a person.
func Text(words string) Outcome { return Outcome{Result: schemas.Result{Text: words}} }

// Data is the outcome that is nothing but data for a program: anything that JSON can say. It
// fails on what JSON cannot.
func Data(value any) (Outcome, error) {
	body, err := schemas.Marshal(value)
	return Outcome{Result: schemas.Result{Data: body}}, err
}

// check says what an outcome lacks to be a response; nil is nothing.
func (o *Outcome) check() error {
	if fault := deliverableFault(o.Deliverables); fault != "" {
		return unreadable(fault)
	}
	switch o.Status {
	case "", schemas.StatusCompleted, schemas.StatusFailed, schemas.StatusBlocked:
		return nil
	case schemas.StatusPartial:
		if o.Text == "" && len(o.Data) == 0 && len(o.Deliverables) == 0 {
			return errors.New("it is partial, and has neither text nor data nor deliverables")
		}
		return nil
	}
	return unreadable(statusFault(string(o.Status)))
}

// ReadBody is ReadOutcome for a body with a media type, by whose charset it is decoded. One that is said to be JSON, and is
// none, and one that its charset cannot hold, is no outcome.
func ReadBody(said []byte, mediaType string, request *Request) (Outcome, error) {
	decoded, err := decodeBody(said, mediaType)
	if err != nil {
		return Outcome{}, err
	}
	return readDecoded(decoded, mediaType, request)
}

// isJSON reports whether a media type is that of JSON, by its subtype or its suffix (RFC 6839).
func isJSON(kind string) bool {
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

func readDecoded(said []byte, mediaType string, request *Request) (Outcome, error) {
	if kind, _, err := mime.ParseMediaType(mediaType); err == nil && isJSON(kind) && len(bytes.TrimSpace(said)) > 0 && !jsontext.Value(said).IsValid() {
		return Outcome{}, unreadableAt("it is said to be JSON, and is not", said)
	}
	return ReadOutcome(said, request)
}

// ReadOutcome gives what a program outside has printed or posted its meaning, the first that applies:
//
//   - Nothing, nothing but blanks, and null: ErrNothing.
//   - Bytes that are no UTF-8, a NUL byte, and what begins as a JSON object or array and is not one alone: nothing that can be read.
//     A byte order mark of UTF-8 does not count.
//   - A JSON object with "type":"execution_response": the documented response. An in_reply_to must name
//     the request; without one, it answers the request.
//   - A JSON object whose "status" is completed, partial, failed or blocked: the payload of such a response.
//   - A JSON object with another "status" of which everything else is a member of such a payload: nothing that can be read. Its status is
//     taken for a misspelled one, unless there is nothing else, or nothing but a "result" that is none.
//   - A JSON object of nothing but "text", "data" and "media_type": a result.
//   - Any other JSON object or array: the data of a result without text.
//   - Anything else: the text of a result, without white space at its end.
//
// Errors wrap ErrUnreadable, unless the program says that it has failed: then it is a *Failure, with what
// else it says in the outcome. Its words are those of the first issue.
func ReadOutcome(said []byte, request *Request) (Outcome, error) {
	trimmed, err := checkForm(said)
	if err != nil {
		return Outcome{}, err
	}
	if !isComposite(trimmed) {
		return Text(string(bytes.TrimRight(bytes.TrimPrefix(said, utf8Mark()), " \t\r\n"))), nil
	}
	value := jsontext.Value(trimmed)
	asData := Outcome{Result: schemas.Result{Data: value}}
	var names map[string]jsontext.Value
	if err := schemas.Unmarshal(value, &names); err != nil {
		return asData, nil //nolint:nilerr // an array: it has no names
	}
	var response schemas.ExecutionResponse
	switch {
	case stringOf(names["type"]) == schemas.EnvelopeTypeExecutionResponse:
		if err := schemas.Unmarshal(value, &response); err != nil {
			return Outcome{}, unreadable(formFault(err))
		}
		if response.InReplyTo != "" && response.InReplyTo != request.MessageID {
			return Outcome{}, unreadable("the execution_response answers another request")
		}
	case slices.Contains(statuses(), schemas.ResponseStatus(stringOf(names["status"]))):
		if err := schemas.Unmarshal(value, &response.Payload); err != nil {
			return Outcome{}, unreadable(formFault(err))
		}
	case misspelled(names):
		return Outcome{}, unreadable(statusFault(stringOf(names["status"])))
	case isResult(names):
		var result schemas.Result
		if err := schemas.Unmarshal(value, &result); err != nil {
			return Outcome{}, unreadable(formFault(err))
		}
		if len(result.Data) == 0 && IsBlank(result.Text) {
			return Outcome{}, ErrNothing
		}
		return Outcome{Result: result}, nil
	default:
		return asData, nil
	}
	return outcomeOf(&response.Payload)
}

func statuses() []schemas.ResponseStatus {
	return []schemas.ResponseStatus{schemas.StatusCompleted, schemas.StatusPartial, schemas.StatusFailed, schemas.StatusBlocked}
}

// outcomeOf takes a payload over, whole.
func outcomeOf(payload *schemas.ResponsePayload) (Outcome, error) {
	if payload.Status == "" {
		return Outcome{}, unreadable("the payload has no status")
	}
	if fault := deliverableFault(payload.Deliverables); fault != "" {
		return Outcome{}, unreadable(fault)
	}
	made := Outcome{
		Status: payload.Status, Deliverables: payload.Deliverables, Usage: payload.ResourceUsage, Needs: payload.Needs, Operation: payload.Operation,
		Findings: schemas.Findings{
			Issues: payload.IssuesEncountered, ValidationResults: payload.ValidationResults, Recommendations: payload.Recommendations,
		},
	}
	if payload.Result != nil {
		made.Result = *payload.Result
	}
	if payload.Status != schemas.StatusFailed {
		return made, nil
	}
	failure := &Failure{Err: errors.New("the program says that it has failed")}
	for i := range payload.IssuesEncountered {
		issue := &payload.IssuesEncountered[i]
		failure.Message = cmp.Or(failure.Message, issue.Description)
		failure.Permanent = failure.Permanent || issue.Resolution == schemas.ResolutionEscalated
		failure.Unknown = failure.Unknown || issue.EffectUnknown
		failure.Category = cmp.Or(failure.Category, known(issue.Category, "", categories()...))
	}
	return made, failure
}

// isComposite reports whether the text is one JSON object or array. A bare
// number or string is text: a program that prints 42 means words.
func isComposite(text []byte) bool {
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && jsontext.Value(text).IsValid()
}

// stringOf returns what a JSON string says; nothing when the value is none.
func stringOf(value jsontext.Value) string {
	var said string
	if len(value) == 0 || schemas.Unmarshal(value, &said) != nil {
		return ""
	}
	return said
}

func isResult(names map[string]jsontext.Value) bool {
	for name := range names {
		if name != "text" && name != "data" && name != "media_type" {
			return false
		}
	}
	return len(names) > 0
}
