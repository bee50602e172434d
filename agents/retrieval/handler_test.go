package retrieval_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/retrieval"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestRetrievalIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		tested := open(t, filepath.Join(t.TempDir(), "medical"), retrieval.ModeLearn)
		return bustest.ServeHandler(t, "retrieval", tested, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("learn ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{
					FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`), Arguments: jsontext.Value(knowledge(t, fmt.Sprint("note ", n), "test")),
				},
			}
		})
	})
}
