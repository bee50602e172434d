package exec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus/agent"
	"podium/schemas"
)

// read gives standard output its meaning; see the package's documentation.
func (a *Agent) read(language string, request *agent.Request, output []byte) (schemas.Result, error) {
	trimmed := bytes.TrimSpace(output)
	if !isComposite(trimmed) {
		return schemas.Result{Text: strings.ToValidUTF8(string(bytes.TrimRight(output, " \t\r\n")), "\uFFFD")}, nil
	}
	statuses := []schemas.ResponseStatus{schemas.StatusCompleted, schemas.StatusPartial, schemas.StatusFailed, schemas.StatusBlocked}
	value := jsontext.Value(trimmed)
	var names map[string]jsontext.Value
	if err := schemas.Unmarshal(value, &names); err != nil {
		return schemas.Result{Data: value}, nil //nolint:nilerr // an array: it has no names
	}
	var response schemas.ExecutionResponse
	switch {
	case text(names["type"]) == schemas.EnvelopeTypeExecutionResponse:
		if err := schemas.Unmarshal(value, &response); err != nil {
			return schemas.Result{}, a.unreadable(language, errors.New("the printed execution_response does not decode"))
		}
		if response.InReplyTo != "" && response.InReplyTo != request.MessageID {
			return schemas.Result{}, a.unreadable(language, errors.New("the printed execution_response answers another request"))
		}
	case slices.Contains(statuses, schemas.ResponseStatus(text(names["status"]))):
		if err := schemas.Unmarshal(value, &response.Payload); err != nil {
			return schemas.Result{}, a.unreadable(language, errors.New("the printed payload does not decode"))
		}
	case isResult(names):
		var result schemas.Result
		if err := schemas.Unmarshal(value, &result); err != nil {
			return schemas.Result{}, a.unreadable(language, errors.New("the printed result does not decode"))
		}
		return result, nil
	default:
		return schemas.Result{Data: value}, nil
	}
	return a.settle(language, &response.Payload)
}

// settle turns a payload into the outcome of the request.
func (a *Agent) settle(language string, payload *schemas.ResponsePayload) (schemas.Result, error) {
	switch payload.Status {
	case schemas.StatusCompleted, schemas.StatusPartial:
		if payload.Result == nil {
			return schemas.Result{}, nil
		}
		return *payload.Result, nil
	case schemas.StatusFailed, schemas.StatusBlocked:
		failure := a.fail(language, "failed", fmt.Errorf("the program reports the status %q", payload.Status))
		failure.Permanent = payload.Status == schemas.StatusBlocked
		for i, issue := range payload.IssuesEncountered {
			if i == 0 && issue.Description != "" {
				failure.Message = issue.Description
			}
			failure.Permanent = failure.Permanent || issue.Resolution == schemas.ResolutionEscalated
			failure.Unknown = failure.Unknown || issue.EffectUnknown
			if issue.Category == schemas.CategoryResource {
				failure.Category = issue.Category
			}
		}
		return schemas.Result{}, failure
	default:
		return schemas.Result{}, a.unreadable(language, errors.New("the printed payload has no known status"))
	}
}

func (a *Agent) unreadable(language string, err error) error {
	failure := a.silent(language, "unreadable", err)
	failure.Permanent = true
	return failure
}

// isComposite reports whether the text is one JSON object or array. A bare
// number or string is text: a program that prints 42 means words.
func isComposite(text []byte) bool {
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && jsontext.Value(text).IsValid()
}

// text returns what a JSON string says; nothing when the value is none.
func text(value jsontext.Value) string {
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
