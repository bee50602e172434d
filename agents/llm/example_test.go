package llm_test

import (
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"

	"podium/agents/llm"
	"podium/bus/agent"
	"podium/schemas"
)

// A router's answer is found in the prose around it, and held to those who can be chosen.
func Example() {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		_, _ = io.WriteString(w, `{"choices": [{"finish_reason": "stop", "message": {"content": "I choose {\"next_agent\": \"QM Agent\", \"reasoning\": \"Orbitals.\"}."}}]}`)
	}))
	defer server.Close()
	router, err := llm.New(llm.Config{Role: llm.RoleRouter, BaseURL: server.URL, Model: "mistral", Client: server.Client()})
	if err != nil {
		panic(err)
	}
	task := schemas.Task{TaskID: "t1", Description: "Analyze HOMO/LUMO", Context: schemas.TaskContext{
		Kind: schemas.KindRoute, Arguments: []byte(`{"agents": [{"name": "qm_agent", "description": "Quantum chemistry"}, {"name": "RESPOND"}]}`),
	}}
	request := &agent.Request{ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{task}}}}
	outcome, err := router.Handle(context.Background(), request, func(int, string) {})
	fmt.Println(string(outcome.Data), err)
	// Output: {"next_agent":"qm_agent","reasoning":"Orbitals."} <nil>
}
