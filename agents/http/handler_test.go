package http_test

import (
	"io"
	nethttp "net/http"
	"testing"

	"podium/bus/bustest"
	"podium/schemas"
)

// TestConformance holds the agent to what the bus expects of every one.
func TestConformance(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		made := endpoint(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, "done") })
		return bustest.ServeHandler(t, "caller", made, func(int) schemas.Task {
			return schemas.Task{TaskID: "t", Description: "do it"}
		})
	})
}
