package document_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/document"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestDocumentIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		tested := open(t, map[string]string{"note.md": "# {{.title}}\n"}, document.FormatHTML)
		return bustest.ServeHandler(t, "document", tested, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("note ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{
					FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`),
					Arguments: jsontext.Value(fmt.Sprintf(`{"document_type":"note","content_data":{"title":"Note %d"}}`, n)),
				},
			}
		})
	})
}
