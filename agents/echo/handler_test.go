package echo_test

import (
	"fmt"
	"testing"

	"podium/agents/echo"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestEchoIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		agent, err := echo.New()
		if err != nil {
			t.Fatal(err)
		}
		return bustest.ServeHandler(t, "echo", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
			}
		})
	})
}
