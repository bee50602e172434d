package session_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestChatIsNotToldOfAFile: an answer to a chat comes without files. Nobody is told there that the rest stands in one, and
// what is left out is told in some other way or not announced.
func TestChatIsNotToldOfAFile(t *testing.T) {
	t.Parallel()
	profile := storyProfile()
	profile.Routers = append(profile.Routers, schemas.Router{Kind: schemas.RouterDefault, Agent: "clerk"})
	for i := range profile.Languages {
		profile.Languages[i].Texts.More = "{count} more are in the file."
	}
	s := newStage(t, profile)
	s.takes(t, s.event(t, "c1", schemas.TypeChatReceived, schemas.ChatReceived{Provider: "webhook", Channel: "web", MessageID: "c1", Text: "List them"}))
	rows := strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, 60), ",")
	answered, err := s.take(t, s.answerTo(t, "clerk", 1, "t1", 1, schemas.ResponsePayload{
		Status: schemas.StatusCompleted, Result: &schemas.Result{Data: jsontext.Value("[" + rows + "]")},
	}), "clerk")
	if err != nil {
		t.Fatal(err)
	}
	for i := range answered.outputs {
		if answered.outputs[i].Kind != session.OutputRequest {
			continue
		}
		request, err := schemas.DecodeExecutionRequest(answered.outputs[i].Event.Data)
		if err != nil {
			t.Fatal(err)
		}
		var delivery schemas.DeliveryArguments
		if err := schemas.Unmarshal(request.Payload.Tasks[0].Context.Arguments, &delivery); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(delivery.Text, "in the file") && len(delivery.Data) == 0 {
			t.Errorf("there is no file, and it says %q", delivery.Text[max(len(delivery.Text)-40, 0):])
		}
	}
}
