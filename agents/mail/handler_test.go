package mail_test

import (
	"fmt"
	"testing"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestMailIsAHandler(t *testing.T) {
	t.Parallel()
	arguments, err := schemas.Marshal(newAnswer())
	if err != nil {
		t.Fatal(err)
	}
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		agent := newAgent(t, startSink(t, smtpsink.Config{}), func(a *mail.Account) { a.Limits.PeerPerHour = 1000 })
		return bustest.ServeHandler(t, "mail", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`), Arguments: arguments},
			}
		})
	})
}
