package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"podium/bus/binding"
	"podium/cmd/podium/planfile"
	"podium/schemas"
)

// commandLine is who asks when a file does not say it.
const commandLine = "command-line"

// readPlan reads the plan in a file; - is standard input.
func readPlan(stdin io.Reader, path string) (*planfile.Plan, error) {
	var body []byte
	var err error
	if path == "-" {
		body, err = io.ReadAll(stdin)
	} else {
		body, err = os.ReadFile(path)
	}
	if os.IsNotExist(err) {
		return nil, notFound("%s does not exist; name the file of the plan", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return planfile.Read(body, path)
}

// planEvent is an execution_request to a profile, made of a plan in a file: the
// documented message, or {"tasks": […]} alone.
func planEvent(stdin io.Reader, path, profile string) (schemas.Event, error) {
	read, err := readPlan(stdin, path)
	if err != nil {
		return schemas.Event{}, err
	}
	request := read.Request(commandLine, time.Now().UTC(), uuid.NewString)
	body, err := schemas.Marshal(request)
	return schemas.Event{
		ID: request.MessageID, Source: binding.SourceOf(request.From), Type: schemas.TypeExecutionRequest, Time: request.Timestamp,
		DataContentType: schemas.MediaTypeJSON, Profile: profile, PartitionKey: request.MessageID, Data: body,
	}, err
}
