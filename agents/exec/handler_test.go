package exec_test

import (
	"fmt"
	"testing"

	"podium/bus/bustest"
	"podium/schemas"
)

func TestExecIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		agent := program(t, "request")
		return bustest.ServeHandler(t, "exec", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
			}
		})
	})
}
