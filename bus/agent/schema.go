package agent

import (
	"errors"
	"fmt"
	"slices"

	"podium/schemas"
	"podium/schemas/validation"
)

// compileSchemas makes ready what the agent says of its arguments and its data. It fails on what is no
// JSON Schema.
func (s *server) compileSchemas() (err error) {
	for _, side := range [...]struct {
		name  string
		body  []byte
		ready **validation.Schema
	}{{"input_schema", s.config.Agent.InputSchema, &s.input}, {"output_schema", s.config.Agent.OutputSchema, &s.output}} {
		if len(side.body) == 0 {
			continue
		}
		if *side.ready, err = validation.Compile(side.body); err != nil {
			return fmt.Errorf("%s of agent %s: %w", side.name, s.worker.Name(), err)
		}
	}
	return nil
}

// argumentFault returns the failure of a request whose arguments are not those that the agent takes, or nil.
// Who asks has held them to the same schema; this is for those who have not. A request without any
// may say all in words.
func (s *server) argumentFault(request *Request) *Failure {
	arguments := request.Task().Context.Arguments
	if s.input == nil || slices.Contains([]string{"", "null", "{}"}, string(arguments)) || !request.Task().Context.Kind.IsWork() {
		return nil
	}
	if err := s.input.Validate(arguments); err != nil {
		return &Failure{
			Message: "The arguments are not those that this agent takes: " + err.Error(), Permanent: true, Category: schemas.CategoryValidation,
			Err: errors.New("the arguments break the input schema"),
		}
	}
	return nil
}

// resultFault returns the failure of an outcome whose data breaks the agent's own schema, or nil. It is worth
// another attempt, which is told what was wrong.
func (s *server) resultFault(outcome *Outcome) error {
	done := outcome.Status == "" || outcome.Status == schemas.StatusCompleted
	if s.output == nil || !done {
		return nil
	}
	data := outcome.Data
	if len(data) == 0 {
		data = []byte("null")
	}
	if err := s.output.Validate(data); err != nil {
		return &Failure{
			Message: "The result is not what was asked for: " + err.Error(), Category: schemas.CategoryValidation,
			Err: errors.New("the result breaks the output schema"),
		}
	}
	return nil
}
