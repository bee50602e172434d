package calculator_test

import (
	"fmt"
	"testing"

	"podium/bus/bustest"
	"podium/schemas"
)

func TestCalculatorIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		agent := newAgent(t)
		return bustest.ServeHandler(t, "calculator", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprintf("Was ist %d,5 * 2?", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{"language":"de"}`)},
			}
		})
	})
}
