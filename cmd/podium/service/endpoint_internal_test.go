package service

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	agenthttp "podium/agents/http"
	"podium/bus/agent"
	"podium/cmd/podium/config"
	"podium/schemas"
)

// TestEndpointMayAnswerAtLength: what the agent takes is bounded by the agent, and not by a tighter bound of the
// guard, which would pass for an endpoint that nobody reaches.
func TestEndpointMayAnswerAtLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size int
		want string
	}{
		"as much as it takes": {agenthttp.DefaultMaxBody, ""},
		"more":                {agenthttp.DefaultMaxBody + 1, "8388608"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", c.size))
		}))
		t.Cleanup(server.Close)
		made, err := httpAgent(&config.Agent{URL: server.URL}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		request := &agent.Request{ExecutionRequest: schemas.ExecutionRequest{Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t1"}}}}}
		outcome, err := made.Handle(t.Context(), request, func(int, string) {})
		if c.want == "" && (err != nil || len(outcome.Text) != c.size) {
			t.Errorf("%s: %d bytes, %v", name, len(outcome.Text), err)
		}
		if failure, failed := errors.AsType[*agent.Failure](err); c.want != "" && (!failed || !failure.Permanent || !strings.Contains(failure.Message, c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
