package llm_test

import (
	nethttp "net/http"
	"testing"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
	"podium/bus/bustest"
	"podium/schemas"
)

// TestConformance holds the agent to what the bus expects of every one.
func TestConformance(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		made, _ := asking(t, llm.RoleWorker, says(modelserver.Answer{Text: "done"}))
		return bustest.ServeHandler(t, "caller", made, func(int) schemas.Task {
			return schemas.Task{TaskID: "t", Description: "do it"}
		})
	})
}

func noRedirects() *nethttp.Client {
	return &nethttp.Client{CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }}
}
