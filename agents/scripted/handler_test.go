package scripted_test

import (
	"fmt"
	"strings"
	"testing"

	"podium/agents/scripted"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestScriptedIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		agent, err := scripted.New(scripted.Config{Script: &scripted.Script{Cases: []scripted.Case{{
			Words:  func(words string) bool { return strings.HasPrefix(words, "say ") },
			Answer: scripted.Answer{Text: template(t, "I {{.words}}.")},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		return bustest.ServeHandler(t, "scripted", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`)},
			}
		})
	})
}
