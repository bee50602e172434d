package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// planEvent is an execution_request to a profile, made of a plan in a file: the
// documented message, or {"tasks": […]} alone.
func planEvent(stdin io.Reader, path, profile string) (schemas.Event, error) {
	var body []byte
	var err error
	if path == "-" {
		body, err = io.ReadAll(stdin)
	} else {
		body, err = os.ReadFile(path)
	}
	if err != nil {
		return schemas.Event{}, err
	}
	request, err := planRequest(body)
	if err != nil {
		return schemas.Event{}, &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", path, err)}
	}
	if body, err = schemas.Marshal(request); err != nil {
		return schemas.Event{}, err
	}
	if err = schemas.Validate(schemas.ExecutionRequestType, body); err != nil {
		return schemas.Event{}, &exitError{code: exitUsage, err: fmt.Errorf("%s: %w; `podium schema execution_request` prints the schema", path, err)}
	}
	return schemas.Event{
		ID: request.MessageID, Source: bus.SourceOf(request.From), Type: schemas.TypeExecutionRequest, Time: request.Timestamp,
		DataContentType: schemas.MediaTypeJSON, Profile: profile, PartitionKey: request.MessageID, Data: body,
	}, nil
}

// commandLine is who asks when a file does not say it.
const commandLine = "command-line"

func planRequest(body []byte) (schemas.ExecutionRequest, error) {
	request := schemas.ExecutionRequest{Envelope: schemas.Envelope{
		MessageID: uuid.NewString(), From: commandLine, To: session.Supervisor,
		Type: schemas.ExecutionRequestType, Timestamp: time.Now().UTC(),
	}}
	request.Payload.PlanID, request.Payload.RequestID = uuid.NewString(), request.MessageID
	var file struct {
		Payload *schemas.RequestPayload `json:"payload"`
		Tasks   []schemas.Task          `json:"tasks"`
	}
	if err := schemas.Unmarshal(body, &file); err != nil {
		return request, fmt.Errorf("it is not a plan in JSON: %w", plainly(body, err))
	}
	switch {
	case file.Payload != nil:
		if err := schemas.Unmarshal(body, &request); err != nil {
			return request, fmt.Errorf("it is not a plan in JSON: %w", plainly(body, err))
		}
		request.To = session.Supervisor // the answer is looked for there
	case len(file.Tasks) > 0:
		request.Payload.Tasks = file.Tasks
	default:
		return request, errors.New(`it has neither "payload" nor "tasks"`)
	}
	return request, nil
}
