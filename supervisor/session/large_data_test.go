package session_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/session"
)

// TestDeliveryOfMuchDataIsNotTooLarge: an answer of data goes out whatever its size. A request above schemas.MaxBody is given
// up by whoever publishes it, so that the person hears nothing at all.
func TestDeliveryOfMuchDataIsNotTooLarge(t *testing.T) {
	t.Parallel()
	profile := storyProfile()
	profile.Routers = append(profile.Routers, schemas.Router{Kind: schemas.RouterDefault, Agent: "clerk"})
	s := newStage(t, profile)
	s.takes(t, s.event(t, "m1", schemas.TypeEmailReceived, schemas.EmailReceived{
		Account: "support", Mailbox: "INBOX", MessageID: "m1@example.org", Text: "List it all", Class: schemas.MailHuman, Parse: schemas.ParseOK,
		Received: s.now, UIDValidity: 1, UID: 1, Raw: schemas.Artifact{SHA256: strings.Repeat("0", 64), Size: 1}, Origin: schemas.OriginUnchecked,
		From: []schemas.Address{{Address: "ana@example.org"}}, AnswerTo: schemas.Address{Address: "ana@example.org"},
	}))
	const depth = 250
	data := strings.Repeat("[", depth) + strings.Repeat("1,", 150_000) + "1" + strings.Repeat("]", depth)
	answered, err := s.take(t, s.answerTo(t, "clerk", 1, "t1", 1, schemas.ResponsePayload{
		Status: schemas.StatusCompleted, Result: &schemas.Result{Data: jsontext.Value(data)},
	}), "clerk")
	if err != nil {
		t.Fatal(err)
	}
	for i := range answered.outputs {
		if output := &answered.outputs[i]; output.Kind == session.OutputRequest && len(output.Event.Data) > schemas.MaxBody {
			t.Errorf("%d bytes of data: the request to %s has %d bytes, more than %d", len(data), output.Agent, len(output.Event.Data), schemas.MaxBody)
		}
	}
	if len(answered.outputs) == 0 {
		t.Error("nothing is sent")
	}
}
