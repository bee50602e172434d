package session_test

import (
	"bytes"
	"strings"
	"testing"

	"podium/schemas"
)

// What a request brings is taken whole or refused, however it is made; no task goes without it in silence.
func TestHostileInputs_X06(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9900) + strings.Repeat("]", 9900)
	for name, inputs := range map[string]string{
		"the same name twice in data": `{"weight":{"data":{"a":1,"a":2}}}`,
		"deep":                        `{"weight":{"data":` + deep + `}}`,
		"null":                        `{"weight":{"text":"x","data":null}}`,
		"no name":                     `{"":{"data":1}}`,
		"a surrogate alone":           `{"weight":{"data":"\ud800"}}`,
		"a name with a surrogate":     `{"\udfff":{"data":1}}`,
		"a large number":              `{"weight":{"data":1e999999}}`,
		"space":                       "{\"weight\":{\"data\": {\n \"a\" : 1.0e0 }}}",
		"names in other cases":        `{"weight":{"data":1},"WEIGHT":{"data":2}}`,
		"the name of the task":        `{"t1":{"data":1}}`,
		"escaped":                     `{"a\u0000/\"\\b":{"data":"\u0000"}}`,
	} {
		for _, planned := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, storyProfile())
				to := "podium"
				if planned {
					to = "clerk"
				}
				event := s.event(t, identify("r"), schemas.TypeExecutionRequest, schemas.ExecutionRequest{
					Envelope: schemas.Envelope{MessageID: identify("r"), From: "p", To: "podium", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: s.now},
					Payload: schemas.RequestPayload{PlanID: identify("p"), RequestID: "r", Tasks: []schemas.Task{{
						TaskID: "t1", Description: "write a letter", AssignedTo: to,
						Context: schemas.TaskContext{Arguments: []byte(`{"INPUTS":1}`)},
					}}},
				})
				event.Data = bytes.Replace(event.Data, []byte(`"arguments":{"INPUTS":1}`), []byte(`"inputs":`+inputs), 1)
				event.ReplyTo = "podium.agent.podium.response.1"
				got, err := s.take(t, event, "")
				if err != nil {
					return
				}
				for _, o := range got.outputs {
					at := bytes.Index(o.Event.Data, []byte(`"inputs"`))
					if at < 0 {
						t.Errorf("nothing is told: %s", o.Event.Data)
						continue
					}
					if _, err := schemas.DecodeExecutionRequest(o.Event.Data); err != nil {
						t.Errorf("the request is not one: %v", err)
					}
				}
				if len(got.outputs) == 0 {
					t.Error("nothing was sent")
				}
			})
		}
	}
}
