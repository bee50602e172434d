package session_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"podium/schemas"
)

// TestLongRequestsAreHandedOnWhole: a record holds 4 KiB of a description. An agent, and a supervisor that knows of the request by that alone, is told all of a
// request that is longer, also when it was said in several messages.
func TestLongRequestsAreHandedOnWhole(t *testing.T) {
	t.Parallel()
	profile := outputProfile()
	profile.CheckLanguage = ""
	profile.Conversation.WhileRunning = schemas.WhileRunningMerge
	s := newStage(t, profile)
	say := func(id, text string) decided {
		return s.takes(t, s.event(t, id, schemas.TypeChatReceived, schemas.ChatReceived{Provider: "p", Channel: "c", Thread: "thread", MessageID: id, Text: text}))
	}
	first, second := "Es juckt. "+strings.Repeat("Im Garten blühen Rosen. ", 400)+"Er ist bewusstlos.", strings.Repeat("Und mehr. ", 900)+"Bitte helfen Sie."
	check := func(made decided, want string) {
		t.Helper()
		var request schemas.ExecutionRequest
		if len(made.outputs) == 0 {
			t.Fatal("no agent is asked")
		}
		if err := json.Unmarshal(made.outputs[len(made.outputs)-1].Event.Data, &request); err != nil {
			t.Fatal(err)
		}
		if task := request.Payload.Tasks[0]; task.AssignedTo != "diagnose" || task.Description != want || task.Context.Request != want {
			t.Errorf("%s is told %d bytes, and %d as the request, want %d", task.AssignedTo, len(task.Description), len(task.Context.Request), len(want))
		}
	}
	check(say("m1", first), first)
	say("m2", first)
	say("m3", second)
	for _, task := range []string{"a", "b"} {
		agent := map[string]string{"a": "diagnose", "b": "chat_agent"}[task]
		if _, err := s.take(t, s.answerTo(t, agent, 1, task, 1, *answers(german)), agent); err != nil {
			t.Fatal(err)
		}
	}
	ended, err := s.take(t, s.answerTo(t, s.state.Active.Task(schemas.DeliveryTask).Agent, 1, schemas.DeliveryTask, 1, *answers("")), s.state.Active.Task(schemas.DeliveryTask).Agent)
	if err != nil {
		t.Fatal(err)
	}
	check(ended, first+"\n\n"+second)
}
