package carddav_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"podium/agents/dav/radicale"
	"podium/bus/bustest"
	"podium/schemas"
)

// TestContactsAreAHandler holds the agent to what the bus expects of every one.
func TestContactsAreAHandler(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	var names atomic.Int64
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		return bustest.ServeHandler(t, "contacts", made, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: "create", Dependencies: []string{}, Priority: schemas.PriorityMedium, Deliverables: []string{},
				ValidationCriteria: []string{}, Context: schemas.TaskContext{
					FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{"language":"de"}`),
					Arguments: fmt.Appendf(nil, `{"action":"create","contact_data":{"name":"Person N%d"}}`, names.Add(1)),
				},
			}
		})
	})
}
