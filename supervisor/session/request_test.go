package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/supervisor/session"
)

// asking is a request with one task to the supervisor itself, but for a change.
func asking(change func(*schemas.ExecutionRequest)) schemas.ExecutionRequest {
	request := schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: identify("r"), From: "planner", To: "desk", Type: schemas.EnvelopeTypeExecutionRequest, Timestamp: start()},
		Payload:  schemas.RequestPayload{PlanID: identify("p"), RequestID: "r", Tasks: []schemas.Task{{TaskID: "a", Description: "add up", AssignedTo: "desk"}}},
	}
	change(&request)
	return request
}

// TestReadRequest_M02: a request is one task in words, or a plan.
func TestReadRequest_M02(t *testing.T) {
	t.Parallel()
	task := func(change func(*schemas.Task)) func(*schemas.ExecutionRequest) {
		return func(r *schemas.ExecutionRequest) { change(&r.Payload.Tasks[0]) }
	}
	for name, test := range map[string]struct {
		change   func(*schemas.ExecutionRequest)
		words    string
		language string
		planned  bool
		entities map[string]string
	}{
		"one task": {func(*schemas.ExecutionRequest) {}, "add up", "", false, nil},
		"what it builds on, in words": {task(func(t *schemas.Task) {
			t.Context.Inputs = map[string]schemas.TaskInput{"b": {Result: schemas.Result{Text: " two "}}, "a": {Result: schemas.Result{Text: "one"}}}
		}), "add up\n\none\n\ntwo", "", false, nil},
		"what it builds on, by name": {task(func(t *schemas.Task) {
			t.Context.Inputs = map[string]schemas.TaskInput{"b": {Result: schemas.Result{Text: " two "}}, "a": {Result: schemas.Result{Text: "one"}}, "c": {Result: schemas.Result{Data: jsontext.Value(`3`)}}}
		}), "add up\n\none\n\ntwo", "", false, nil},
		"no words but the person's": {task(func(t *schemas.Task) { t.Description, t.Context.Request = " ", " how much? " }), "how much?", "", false, nil},
		"no words at all":           {task(func(t *schemas.Task) { t.Description = "" }), "", "", false, nil},
		"a language":                {task(func(t *schemas.Task) { t.Context.Constraints = jsontext.Value(`{"language":"de"}`) }), "add up", "de", false, nil},
		"entities":                  {task(func(t *schemas.Task) { t.Context.Entities = map[string]string{"customer": "12"} }), "add up", "", false, map[string]string{"customer": "12"}},
		"a task for somebody else":  {task(func(t *schemas.Task) { t.AssignedTo, t.Context.Request = "clerk", "how much?" }), "how much?", "", true, nil},
		"two tasks": {func(r *schemas.ExecutionRequest) {
			r.Payload.Tasks[0].Context.Entities = map[string]string{"customer": "12"}
			r.Payload.Tasks = append(r.Payload.Tasks, schemas.Task{TaskID: "b", AssignedTo: "desk", Context: schemas.TaskContext{
				Request: "how much?", Constraints: jsontext.Value(`{"language":"de"}`), Entities: map[string]string{"customer": "13", "branch": "north"},
			}})
		}, "how much?", "de", true, map[string]string{"customer": "12", "branch": "north"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, err := session.ParseInput(schemas.Event{
				ID: identify("r"), Type: schemas.TypeExecutionRequest, Data: canonical(t, asking(test.change)), EffectID: "e", Attempt: 2, ReplyTo: "s", Expires: start().Add(time.Hour),
			}, session.Publisher{}, 7)
			if err != nil {
				t.Fatal(err)
			}
			got := input.Message
			if got.Channel != schemas.ChannelAgent || got.Text != test.words || got.Language != test.language || got.Upstream.Planned != test.planned {
				t.Errorf("%s %q in %q, planned %v", got.Channel, got.Text, got.Language, got.Upstream.Planned)
			}
			if string(canonical(t, got.Entities)) != string(canonical(t, test.entities)) {
				t.Errorf("about %v", got.Entities)
			}
			up := got.Upstream
			if up.Request != identify("r") || up.From != "planner" || up.To != "desk" || up.PlanID != identify("p") || up.Effect != "e" || up.Attempt != 2 || up.ReplyTo != "s" || !up.Expires.Equal(start().Add(time.Hour)) {
				t.Errorf("upstream is %+v", up)
			}
			if up.HasInputs != (name == "what it builds on, by name") {
				t.Errorf("it brings results: %v", up.HasInputs)
			}
			if content := input.Content(); content.Text != test.words || (len(content.Data) > 0) != (test.planned || up.HasInputs) {
				t.Errorf("it holds %q and %s", content.Text, content.Data)
			}
		})
	}
}

// TestReadRequestRefuses_M06_X06: what is no request is no input.
func TestReadRequestRefuses_M06_X06(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id     string
		change func(*schemas.ExecutionRequest)
		says   string
	}{
		"another id":           {"other", func(*schemas.ExecutionRequest) {}, "the event's id is not its message_id"},
		"no tasks":             {identify("r"), func(r *schemas.ExecutionRequest) { r.Payload.Tasks = nil }, "/payload/tasks"},
		"to what is no agent":  {identify("r"), func(r *schemas.ExecutionRequest) { r.To, r.Payload.Tasks[0].AssignedTo = "a.b >", "clerk" }, `"a.b >" is not the name of an agent`},
		"wrong assignments":    {identify("r"), func(r *schemas.ExecutionRequest) { r.Payload.AgentAssignments = map[string][]string{"clerk": {"a"}} }, "/payload/agent_assignments/clerk/0"},
		"a task without an id": {identify("r"), func(r *schemas.ExecutionRequest) { r.Payload.Tasks[0].TaskID = "" }, "/payload/tasks/0/task_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := session.ParseInput(schemas.Event{ID: test.id, Type: schemas.TypeExecutionRequest, Data: canonical(t, asking(test.change))}, session.Publisher{}, 7)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzRequest: no request makes reading it panic, and whatever is read is carried
// out to its end, by the laws, and answered.
func FuzzRequest(f *testing.F) {
	files, err := filepath.Glob("../../schemas/testdata/execution_request/valid/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for i, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, i)
	}
	f.Add(canonical(f, asking(func(*schemas.ExecutionRequest) {})), 1)
	f.Add(canonical(f, asking(func(r *schemas.ExecutionRequest) {
		r.Payload.Tasks = append(r.Payload.Tasks, schemas.Task{TaskID: "b", AssignedTo: "clerk", Dependencies: []string{"a"}, Resources: []string{"disk"}, EstimatedTimeSeconds: 1 << 40})
	})), 2)
	source := storyProfile()
	source.Execution.Mode = schemas.ExecutionDAG
	source.Routers = append([]schemas.Router{{Kind: schemas.RouterAssigned}}, schemas.Router{Kind: schemas.RouterDefault, Agent: "clerk"})
	f.Fuzz(func(t *testing.T, body []byte, how int) {
		var envelope schemas.Envelope
		if schemas.Unmarshal(body, &envelope) != nil {
			return
		}
		s := newStage(t, source)
		event := schemas.Event{
			ID: envelope.MessageID, Source: "/fuzz", Type: schemas.TypeExecutionRequest, Data: body,
			Subject: "run/task", EffectID: envelope.From, Attempt: how & 3,
		}
		if how&4 > 0 {
			event.Expires = s.now.Add(time.Duration(how) * time.Millisecond)
		}
		if how&8 > 0 { // it waits for its turn
			s.takes(t, s.event(t, "m1", schemas.TypeChatReceived, schemas.ChatReceived{Provider: "p", Channel: "c", MessageID: "m1", Text: "calculate"}))
		}
		if _, err := s.take(t, event, ""); err == nil {
			s.settle(t)
		}
	})
}
