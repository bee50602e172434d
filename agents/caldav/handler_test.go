package caldav_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"podium/agents/dav/radicale"
	"podium/bus/bustest"
	"podium/schemas"
)

// TestCalendarIsAHandler holds the agent to what the bus expects of every one.
func TestCalendarIsAHandler(t *testing.T) {
	t.Parallel()
	server := radicale.Start(t)
	made := newAgent(t, server.URL)
	var days atomic.Int64
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		return bustest.ServeHandler(t, "calendar", made, func(n int) schemas.Task {
			day := now.AddDate(0, 0, int(days.Add(1))).Format(time.DateOnly)
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: "book", Dependencies: []string{}, Priority: schemas.PriorityMedium, Deliverables: []string{},
				ValidationCriteria: []string{}, Context: schemas.TaskContext{
					FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{"language":"de"}`),
					Arguments: fmt.Appendf(nil, `{"action":"schedule","appointment_data":{"date":%q,"time":"10:00","person":"Jürgen Müller-Größ"}}`, day),
				},
			}
		})
	})
}
