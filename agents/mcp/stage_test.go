package mcp_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rs/zerolog"

	"podium/agents/mcp"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

// configured is an agent of a tool of one of the servers above, which is not pinned yet.
func configured(t *testing.T, way, tool string, more ...func(*mcp.Config)) mcp.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := mcp.Config{
		Agent: "tester", Command: []string{self}, Env: []string{serverVariable + "=" + way, endAtOnce}, Tool: tool, Log: zerolog.New(zerolog.NewTestWriter(t)),
	}
	for _, change := range more {
		change(&config)
	}
	return config
}

// pinned is what the server that works offers under a name.
func pinned(t *testing.T, tool string) *mcp.Pin {
	t.Helper()
	pin, err := mcp.Discover(t.Context(), configured(t, "well", tool))
	if err != nil {
		t.Fatal(err)
	}
	return pin
}

// tool is an agent whose tool is pinned as the server that works has it.
func tool(t *testing.T, way, name string, more ...func(*mcp.Config)) *mcp.Agent {
	t.Helper()
	return made(t, configured(t, way, name, append([]func(*mcp.Config){func(config *mcp.Config) { config.Pin = pinned(t, name) }}, more...)...))
}

// made is the agent of a configuration, whose server ends with the test.
func made(t *testing.T, config mcp.Config) *mcp.Agent {
	t.Helper()
	made, err := mcp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	return made
}

// request asks for work with these arguments.
func request(arguments string) *agent.Request {
	return &agent.Request{Attempt: 1, EffectID: "effect-1", Artifacts: memory.New(1).Artifacts(), ExecutionRequest: schemas.ExecutionRequest{
		Payload: schemas.RequestPayload{Tasks: []schemas.Task{{TaskID: "t", Description: "do it", Context: schemas.TaskContext{Arguments: jsontext.Value(arguments)}}}},
	}}
}

func silent(int, string) {}

// failed returns the failure of a call that must not work.
func failed(t *testing.T, one *mcp.Agent, arguments string) *agent.Failure {
	t.Helper()
	outcome, err := one.Handle(t.Context(), request(arguments), silent)
	failure, is := errors.AsType[*agent.Failure](err)
	if !is {
		t.Fatalf("%+v, %v, want a failure", outcome, err)
	}
	if failure.Message == "" {
		t.Errorf("nothing for a person: %v", failure.Err)
	}
	return failure
}

const patience = 2 * time.Minute

// eventually waits until a condition holds, which it does at once unless the machine is very busy.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}

func external(config *mcp.Config) { config.SideEffects = schemas.SideEffectsExternal }
