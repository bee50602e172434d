package exec_test

import (
	"fmt"
	"testing"

	"podium/bus/bustest"
	"podium/schemas"
)

// TestTimeOfAProgramIsMeasured: what a program says of its own time is not believed, since its process is timed; what it says of tokens and money is.
func TestTimeOfAProgramIsMeasured(t *testing.T) {
	t.Parallel()
	const said = `{"status":"completed","result":{"text":"a"},"resource_usage":{"tokens_used":7,"cost_micros":9,"time_elapsed_seconds":5,"agent_execution_times":{"x":5}}}`
	outcome, err := program(t, "print:"+said).Handle(t.Context(), newRequest(), new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	used := outcome.Usage
	if used == nil || used.TokensUsed == nil || *used.TokensUsed != 7 || used.CostMicros != 9 || used.TimeElapsedSeconds != 0 || len(used.AgentExecutionTimes) > 0 {
		t.Errorf("it has used %+v", used)
	}
}

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
