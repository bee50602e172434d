package mcp_test

import (
	"testing"

	"podium/agents/mcp"
	"podium/bus/bustest"
	"podium/schemas"
)

// TestConformance holds the agent to what the bus expects of every one.
func TestConformance(t *testing.T) {
	t.Parallel()
	pin := pinned(t, "echo")
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		one := made(t, configured(t, "well", "echo", func(config *mcp.Config) { config.Pin = pin }))
		return bustest.ServeHandler(t, "tester", one, func(int) schemas.Task {
			return schemas.Task{TaskID: "t", Description: "do it", Context: schemas.TaskContext{Arguments: []byte(`{"text":"x"}`)}}
		})
	})
}
