package chat_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"podium/agents/chat"
	"podium/bus/bustest"
	"podium/schemas"
)

func TestChatIsAHandler(t *testing.T) {
	t.Parallel()
	bustest.TestHandler(t, func(t *testing.T) bustest.HandlerSystem {
		t.Helper()
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		agent := newAgent(t, chat.Config{Channels: map[string]chat.Channel{"web": {Callback: server.URL, Secret: secret}}})
		return bustest.ServeHandler(t, "chat", agent, func(n int) schemas.Task {
			return schemas.Task{
				TaskID: fmt.Sprint("task-", n), Description: fmt.Sprint("say ", n), Dependencies: []string{},
				Priority: schemas.PriorityMedium, Deliverables: []string{}, ValidationCriteria: []string{},
				Context: schemas.TaskContext{FilesToModify: []string{}, References: []string{}, Constraints: []byte(`{}`), Arguments: []byte(`{"channel":"web","text":"x"}`)},
			}
		})
	})
}
