package file_test

import (
	"fmt"
	"testing"

	"podium/bus/bustest"
	"podium/schemas"
)

func TestFileIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		return bustest.ServeHandler(t, "file", open(t, t.TempDir(), "{task}.md"), func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("note ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`), Request: fmt.Sprint("note ", n)},
			}
		})
	})
}
