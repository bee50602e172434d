package agent_test

import (
	"errors"
	"reflect"
	"testing"

	"podium/bus/agent"
	"podium/schemas"
)

func asked() *agent.Request {
	return &agent.Request{ExecutionRequest: schemas.ExecutionRequest{
		Envelope: schemas.Envelope{MessageID: "00000000-0000-4000-8000-000000000001"},
		Payload:  schemas.RequestPayload{PlanID: "p", Tasks: []schemas.Task{{TaskID: "t1"}}},
	}}
}

const wholePayload = `{
	"status": "%s", "plan_id": "p", "result": {"text": "Half.", "data": {"n": 1}, "media_type": "text/plain"},
	"deliverables": [{"deliverable_id": "d", "type": "code", "path": "a.go"}],
	"validation_results": [{"validator": "v", "status": "failed", "issues": [{"severity": "error", "message": "m", "file": "a.go", "line": 3}]}],
	"issues_encountered": [{"severity": "low", "description": "The key was missing.", "resolution": "deferred"}],
	"recommendations": ["Look again."], "resource_usage": {"tokens_used": 7, "time_elapsed_seconds": 2},
	"needs": [{"name": "day", "question": {"de": "Welcher Tag?"}, "schema": {"type": "string"}}],
	"operation": {"name": "book", "arguments": {"day": "2026-12-03"}, "summary": "Books."}}`

func payloadOf(status string) string {
	return string([]byte(wholePayload[:len("{\n\t\"status\": \"")])) + status + wholePayload[len("{\n\t\"status\": \"%s"):]
}

// TestNothingThatAProgramSaysIsDropped_M07_M09_M10_M11_M12_M13: each member of a payload is in the outcome.
func TestNothingThatAProgramSaysIsDropped_M07_M09_M10_M11_M12_M13(t *testing.T) {
	t.Parallel()
	for _, status := range []schemas.ResponseStatus{schemas.StatusCompleted, schemas.StatusPartial, schemas.StatusBlocked, schemas.StatusFailed} {
		for form, said := range map[string]string{
			"a payload": payloadOf(string(status)), "a response": `{"type": "execution_response", "payload": ` + payloadOf(string(status)) + `}`,
		} {
			made, err := agent.ReadOutcome([]byte(said), asked())
			failure, failed := errors.AsType[*agent.Failure](err)
			if failed != (status == schemas.StatusFailed) || err != nil && !failed {
				t.Fatalf("%s as %s: %v", status, form, err)
			}
			if failed && (failure.Message != "The key was missing." || failure.Permanent) {
				t.Errorf("%s as %s: %+v", status, form, failure)
			}
			value := reflect.ValueOf(made)
			for i := range value.NumField() {
				if value.Field(i).IsZero() {
					t.Errorf("%s as %s: nothing in %s", status, form, value.Type().Field(i).Name)
				}
			}
		}
	}
}

// TestReadOutcome: what a program may say, and what is no outcome.
func TestReadOutcome(t *testing.T) {
	t.Parallel()
	const unreadable = "unreadable"
	for said, want := range map[string]string{
		"":                        "",
		" Hello.\n":               "text  Hello.",
		"42":                      "text 42",
		`"quoted"`:                `text "quoted"`,
		`{"text": "x"}`:           "text x",
		`{"a": 1}`:                `data {"a": 1}`,
		`[1]`:                     "data [1]",
		`{"status": "shipped"}`:   `data {"status": "shipped"}`,
		`{"status": 3}`:           `data {"status": 3}`,
		`{"status": "completed"}`: "",
		`{"text": 3}`:             unreadable,
		`{"status": "partial"}`:   unreadable,
		`{"status": "blocked"}`:   "blocked",
		`{"status": "failed"}`:    "failed",
		`{"status": "partial", "result": {"text": "x"}}`:                                             "partial text x",
		`{"status": "completed", "result": 3}`:                                                       unreadable,
		`{"type": "execution_response", "payload": {}}`:                                              unreadable,
		`{"type": "execution_response", "in_reply_to": "other", "payload": {"status": "completed"}}`: unreadable,
		"\xff":   "text \uFFFD",
		`{"a": `: `text {"a":`,
	} {
		made, err := agent.ReadOutcome([]byte(said), asked())
		got := string(made.Status)
		if got == string(schemas.StatusCompleted) {
			got = ""
		}
		if made.Text != "" {
			got = joined(got, "text "+made.Text)
		}
		if len(made.Data) > 0 {
			got = joined(got, "data "+string(made.Data))
		}
		if errors.Is(err, agent.ErrUnreadable) {
			got = unreadable
		}
		if got != want {
			t.Errorf("%q: %q (%v), want %q", said, got, err, want)
		}
	}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// FuzzReadOutcome: whatever a program says is an outcome that can be written, a failure, or unreadable.
func FuzzReadOutcome(f *testing.F) {
	for _, seed := range []string{"", "x", `{"text": "x"}`, payloadOf("blocked"), payloadOf("failed"), `{"type": "execution_response"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		made, err := agent.ReadOutcome(said, asked())
		_, failed := errors.AsType[*agent.Failure](err)
		if err != nil && !failed && !errors.Is(err, agent.ErrUnreadable) {
			t.Errorf("%v", err)
		}
		if len(made.Data) > 0 && !made.Data.IsValid() {
			t.Errorf("%q", made.Data)
		}
	})
}
