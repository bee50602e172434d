package agent_test

import (
	"errors"
	"reflect"
	"strings"
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
		"":                        unreadable,
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
		`{"status": "partial"}`:   "partial", // its files may be all that it has: Serve looks
		`{"status": "blocked"}`:   "blocked",
		`{"status": "failed"}`:    "failed",
		`{"status": "partial", "result": {"text": "x"}}`:                                             "partial text x",
		`{"status": "completed", "result": 3}`:                                                       unreadable,
		`{"type": "execution_response", "payload": {}}`:                                              unreadable,
		`{"type": "execution_response", "in_reply_to": "other", "payload": {"status": "completed"}}`: unreadable,
		"\xff":   unreadable,
		`{"a": `: unreadable,
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

// TestOutputThatIsNoAnswer: output that begins as JSON and does not parse, that is no UTF-8, or that holds nothing is unreadable. The
// error, which is logged, says what is wrong, and quotes nothing of it.
func TestOutputThatIsNoAnswer(t *testing.T) {
	t.Parallel()
	const nothing, cut, broken, behind, bytes = "no output", "ends in the middle", "does not parse", "something follows", "no UTF-8"
	for said, want := range map[string]string{
		"": nothing, " \n\t\r\n": nothing, "\ufeff": nothing, "\u00a0\u200b\u3000": nothing, "null\n": nothing,
		`{"text": ""}`: nothing, `{"text": " \n"}`: nothing, `{"data": null, "text": "\u200b"}`: "",
		"{": cut, "[": cut, "\ufeff{": cut, `{"text": "half`: cut, `{"ana@example.org": 1`: cut, `[{"a": 1}, {"b"`: cut, `["a", "b`: cut, "[1, 2": cut, "[[1, 2], [3": cut, "[true": cut,
		`{"a": NaN}`: broken, `{'a': 1}`: broken, `{"a": 1,}`: broken, "{ana@example.org}": broken, "{// why\n}": broken, "[1, two]": broken, `{"a": "tab	"}`: broken,
		`{"a": 1, "a": 2}`: "twice",
		`{"a": 1} done`:    behind, "{}\n{}": behind, `[{"a": 1}] and more`: behind, `{"a": 1}}`: behind, `["a"] said ana@example.org`: behind,
		"\xff": bytes, "R\xfcckruf": bytes, "Gr\xc3": bytes, "{\"a\": \"\xfc\"}": bytes, "\xff\xfeH\x00i\x00": bytes, "\xed\xa0\x80": bytes, "\xc0\xaf": bytes,
		"H\x00i\x00": "NUL", "\x00": "NUL", "{}\x00": "NUL", "done\x00": "NUL",

		"[1] See page 3.": "", "[ ] Buy milk": "", "[] Buy milk": "", "[Draft] Hello": "", "[link](https://example.org)": "", "[[wiki]] is meant": "", "[2026-11-28] Done": "",
		"\ufeffHello": "", "\ufeff{\"a\": 1}": "", "[]": "", "[[]]": "", "{}": "", "\uFFFD": "", `"half`: "", "Sum: {": "", "0": "", "false": "", `{"text": "", "data": 0}`: "",
	} {
		made, err := agent.ReadOutcome([]byte(said), asked())
		switch {
		case want == "" && (err != nil || strings.HasPrefix(made.Text, "\ufeff") || made.Text == "" && len(made.Data) == 0):
			t.Errorf("%q becomes %+v, %v", said, made, err)
		case want == "":
		case !errors.Is(err, agent.ErrUnreadable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "ana@"):
			t.Errorf("%q: %v, want %s", said, err, want)
		case errors.Is(err, agent.ErrNothing) != (want == nothing):
			t.Errorf("%q is taken for nothing: %v", said, err)
		}
	}
}

// TestUnknownTypeOfADeliverable: a deliverable of a type that does not exist is no documentation.
func TestUnknownTypeOfADeliverable(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		`"code"`: "", `"documentation"`: "", `"report"`: "", `"config"`: "", `""`: "",
		`"image"`: `the type "image" of deliverable 2 is none of code, documentation, report, config`, `"Code"`: `the type "Code"`, `"for ana@example.org"`: "the type of deliverable 2",
		`3`: "/deliverables/1/type is of type number, want string",
	} {
		payload := `{"status": "completed", "deliverables": [{"type": "code", "path": "a.go"}, {"type": ` + kind + `, "path": "b"}]}`
		for _, said := range []string{payload, `{"type": "execution_response", "payload": ` + payload + `}`} {
			_, err := agent.ReadOutcome([]byte(said), asked())
			if want == "" && err != nil || want != "" && (!errors.Is(err, agent.ErrUnreadable) || !strings.Contains(strings.ReplaceAll(err.Error(), "/payload", ""), want) || strings.Contains(err.Error(), "ana@")) {
				t.Errorf("%s: %v, want %q", said, err, want)
			}
		}
	}
}

// TestAMisspelledStatusIsNoData: what has the form of a response but for its status is not taken for data, and the sentence says which
// there are. Data that happens to have a status stays data.
func TestAMisspelledStatusIsNoData(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"status": "block", "needs": [{"name": "day"}]}`:                      `the status "block" is none of completed, partial, failed, blocked`,
		`{"status": "block", "needs": "day"}`:                                  `the status "block" is none of`,
		`{"status": "Completed", "result": {"text": "x"}}`:                     `the status "Completed" is none of`,
		`{"status": "complete", "result": {"text": "x"}, "plan_id": "p"}`:      `the status "complete" is none of`,
		`{"status": "error", "issues_encountered": []}`:                        `the status "error" is none of`,
		`{"status": "", "result": {"text": "x"}}`:                              `the status is none of`,
		`{"status": 3, "result": {"data": 1}}`:                                 `the status is none of`,
		`{"status": "waits for ana@example.org", "needs": []}`:                 `the status is none of`,
		`{"type": "execution_response", "payload": {"status": "block"}}`:       "",
		`{"status": "block"}`:                                                  "data",
		`{"status": "shipped", "order": 3}`:                                    "data",
		`{"status": "shipped", "order": 3, "result": {"text": "x"}}`:           "data",
		`{"status": "ok", "result": 42}`:                                       "data",
		`{"status": "ok", "result": {"rows": 3}}`:                              "data",
		`{"status": "ok", "result": {}}`:                                       "data",
		`{"result": {"text": "x"}}`:                                            "data",
		`{"data": {"status": "ok", "result": {"text": "x"}}}`:                  "data",
		`{"status": "completed", "result": {"data": {"status": "shipped"}}}`:   "data",
		`{"status": "failed", "recommendations": ["Look at the other page."]}`: "",
	} {
		made, err := agent.ReadOutcome([]byte(said), asked())
		switch {
		case want == "data" && (err != nil || len(made.Data) == 0):
			t.Errorf("%s is not taken as data: %v", said, err)
		case want != "data" && want != "" && (!errors.Is(err, agent.ErrUnreadable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "ana@")):
			t.Errorf("%s: %v, want %s", said, err, want)
		case want == "" && len(made.Data) > 0:
			t.Errorf("%s is taken as data", said)
		}
	}
}

// TestAWrongFormIsNamed: who writes the program is told which member is wrong, and what it has to be, without the words that stand there.
func TestAWrongFormIsNamed(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"status": "blocked", "needs": "ana@example.org"}`:                                               "the answer's /needs is of type string, want array",
		`{"status": "blocked", "needs": ["ana@example.org"]}`:                                             "the answer's /needs/0 is of type string, want object",
		`{"status": "blocked", "needs": [{"name": 3}]}`:                                                   "the answer's /needs/0/name is of type number, want string",
		`{"status": "blocked", "needs": [{"name": "day", "question": "ana@example.org"}]}`:                "the answer's /needs/0/question is of type string, want object",
		`{"status": "blocked", "needs": [{"name": "day", "question": {"ana@example.org": 1}}]}`:           "the answer's /needs/0/question is of type number, want string",
		`{"status": "completed", "result": 3}`:                                                            "the answer's /result is of type number, want object",
		`{"type": "execution_response", "payload": {"status": "blocked", "needs": {"name": "day"}}}`:      "the answer's /payload/needs is of type object, want array",
		`{"text": ["ana@example.org"]}`:                                                                   "the answer's /text is of type array, want string",
		`{"status": "completed", "resource_usage": {"tokens_used": true}}`:                                "the answer's /resource_usage/tokens_used is of type boolean, want integer",
		`{"status": "blocked", "needs": [{"name": "day", "readings": ["ana@example.org", null, false]}]}`: "the answer's /needs/0/readings/2 is of type boolean, want string",
	} {
		_, err := agent.ReadOutcome([]byte(said), asked())
		if !errors.Is(err, agent.ErrUnreadable) || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "ana@") {
			t.Errorf("%s: %v, want %s", said, err, want)
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

// TestBrokenJSONIsNoAnswer: a body that is said to be JSON and is not becomes nobody's words.
func TestBrokenJSONIsNoAnswer(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct {
		mediaType string
		unread    bool
	}{
		`{"status": "completed", "result":`:  {"application/json; charset=utf-8", true},
		`Good morning`:                       {"application/json", true},
		`{"status": "completed", "result": `: {"text/plain", true},
		`{"n": 1`:                            {"text/json", true},
		`Good night`:                         {"application/problem+json", true},
		`[1, 2`:                              {"", true},
		" ":                                  {"application/json", true},
		`{"n": 1}`:                           {"application/json", false},
	} {
		if _, err := agent.ReadBody([]byte(said), c.mediaType, asked()); errors.Is(err, agent.ErrUnreadable) != c.unread {
			t.Errorf("%q as %s: %v", said, c.mediaType, err)
		}
	}
}
