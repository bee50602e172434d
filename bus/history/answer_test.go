package history_test

import (
	"errors"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/bus/memory"
	"podium/schemas"
	"podium/schemas/workflow"
)

func TestAnswerText(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	session := schemas.SessionID("praxis", "answer")
	long, huge := strings.Repeat("long ", 1000), strings.Repeat("huge ", 80_000)
	stored := func(text string) uint64 {
		t.Helper()
		return putResponse(t, ledger, session, &schemas.Result{Text: text})
	}
	silent := putResponse(t, ledger, session, nil)
	inline := func(text string) schemas.Content { return schemas.Content{Result: schemas.Result{Text: text}} }
	told := &schemas.Error{Message: map[string]string{"en": "One step failed.", "de": "Ein Schritt ging nicht."}}
	for name, test := range map[string]struct {
		parts    []schemas.Content
		failure  *schemas.Error
		language string
		want     string
	}{
		"nothing":            {},
		"in place":           {parts: []schemas.Content{inline("one"), inline(" "), inline("two\n")}, want: "one\n\ntwo"},
		"by sequence":        {parts: []schemas.Content{{Sequence: stored(long), Size: len(long)}}, want: strings.TrimSpace(long)},
		"in an artifact":     {parts: []schemas.Content{{Sequence: stored(huge), Size: len(huge)}}, want: strings.TrimSpace(huge)},
		"a piece":            {parts: []schemas.Content{{Sequence: stored("abcdef"), Offset: 2, Size: 3}}, want: "cde"},
		"a piece too far":    {parts: []schemas.Content{{Sequence: stored("abc"), Offset: 2, Size: 9}}, want: "abc"},
		"without a result":   {parts: []schemas.Content{{Sequence: silent}}},
		"a failure":          {failure: told, language: "de", want: "Ein Schritt ging nicht."},
		"a failure above it": {parts: []schemas.Content{inline("4")}, failure: told, language: "en", want: "One step failed.\n\n4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := workflow.RunHistory{ID: schemas.RunID(session, 1), Session: session, Run: workflow.Run{Error: test.failure, Message: schemas.Incoming{Language: test.language}}}
			for _, body := range test.parts {
				run.Answer = append(run.Answer, schemas.AnswerPart{Task: "t", Body: body})
			}
			got, err := history.AnswerText(t.Context(), ledger, run)
			if err != nil || got != test.want {
				t.Errorf("%d bytes %.40q (%v), want %d bytes %.40q", len(got), got, err, len(test.want), test.want)
			}
		})
	}
}

func TestAnswerTextErrors(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	session := schemas.SessionID("praxis", "answer")
	huge := putResponse(t, ledger, session, &schemas.Result{Text: strings.Repeat("huge ", 80_000)})
	message, err := binding.Encode(bus.InSubject("chat", 0), &schemas.Event{ID: "1", Source: "/x", Type: schemas.TypeChatReceived})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := bus.Append(t.Context(), ledger, message, bus.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(from bus.Ledger, sequence uint64) error {
		_, err := history.AnswerText(t.Context(), from, workflow.RunHistory{
			Session: session, Run: workflow.Run{Answer: []schemas.AnswerPart{{Body: schemas.Content{Sequence: sequence}}}},
		})
		return err
	}
	if err := read(ledger, 99); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("nothing there: %v", err)
	}
	var malformed *bus.MalformedError
	if err := read(ledger, chat.Sequence); !errors.As(err, &malformed) {
		t.Errorf("not a response: %v", err)
	}
	if err := read(struct{ bus.Ledger }{ledger}, huge); err == nil || !strings.Contains(err.Error(), "object store") {
		t.Errorf("without an object store: %v", err)
	}
}

// putResponse appends a response as the bus does and returns its sequence.
func putResponse(t *testing.T, core bus.Core, session string, result *schemas.Result) uint64 {
	t.Helper()
	body, err := schemas.Marshal(schemas.ExecutionResponse{
		Envelope: schemas.Envelope{
			MessageID: schemas.ResponseID("r"), InReplyTo: schemas.PlanID("r"), From: "calculator", To: "supervisor",
			Type: schemas.EnvelopeTypeExecutionResponse,
		},
		Payload: schemas.ResponsePayload{Status: schemas.StatusCompleted, PlanID: schemas.PlanID("r"), Result: result},
	})
	if err != nil {
		t.Fatal(err)
	}
	event := schemas.Event{
		ID: "1", Source: binding.SourceOf("calculator"), Type: schemas.TypeExecutionResponse,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}
	if err := artifact.Offload(t.Context(), core.Artifacts(), &event); err != nil {
		t.Fatal(err)
	}
	message, err := binding.Encode(bus.ResponseSubject("calculator", schemas.ShardOf(session, core.Shards())), &event)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := bus.Append(t.Context(), core, message, bus.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	return ack.Sequence
}
