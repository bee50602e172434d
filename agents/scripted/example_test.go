package scripted_test

import (
	"context"
	"fmt"
	"strings"

	"podium/agents/scripted"
	"podium/bus/agent"
	"podium/schemas"
)

// An agent that fails at first and then answers, so that a profile's retries can be seen.
func Example() {
	text, err := scripted.ParseTemplate("It rains in {{.entities.town}}.")
	if err != nil {
		fmt.Println(err)
	}
	weather := func(words string) bool { return strings.Contains(words, "weather") }
	forecaster, err := scripted.New(scripted.Config{Script: &scripted.Script{Cases: []scripted.Case{
		{Words: weather, Attempt: 1, Answer: scripted.Answer{Place: "cases[0]", Fails: scripted.FailsTemporary}},
		{Words: weather, Answer: scripted.Answer{Text: text}},
	}}})
	if err != nil {
		fmt.Println(err)
	}
	for attempt := range 2 {
		request := &agent.Request{Attempt: attempt + 1, ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{{
			Context: schemas.TaskContext{Request: "the weather, please", Entities: map[string]string{"town": "Graz"}},
		}}}}}
		made, err := forecaster.Handle(context.Background(), request, func(int, string) {})
		fmt.Println(made.Text, err)
	}
	// Output:
	// cases[0] fails: temporary
	// It rains in Graz. <nil>
}
