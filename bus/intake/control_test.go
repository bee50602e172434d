package intake_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
)

// TestWordsOfPeople: a word stands on its shard under an id of its own, whole however long it is; where a ledger is full one
// that brings words is refused, and one that only makes room is not.
func TestWordsOfPeople(t *testing.T) {
	t.Parallel()
	ledger := memory.New(2)
	in := intake.NewIntake(ledger)
	long := strings.Repeat("words ", 100<<10)
	ids := map[string]bool{}
	for _, want := range []schemas.Control{
		{Action: schemas.ControlCancel, Run: "r", By: "somebody"}, {Action: schemas.ControlAnswer, Run: "r", Inquiry: 2, Text: long},
	} {
		receipt, err := in.SubmitControl(t.Context(), "/podium/somebody", 1, &want)
		if err != nil || receipt.ID == "" || ids[receipt.ID] {
			t.Fatalf("%+v (%v)", receipt, err)
		}
		ids[receipt.ID] = true
		message, err := ledger.Get(t.Context(), bus.ShardStream(1), receipt.Sequence)
		if err != nil || message.Subject != bus.ControlSubject(1) {
			t.Fatalf("it stands as %q (%v)", message.Subject, err)
		}
		event, err := artifact.DecodeWhole(t.Context(), ledger.Artifacts(), message)
		if err != nil || event.ID != receipt.ID || event.Type != schemas.TypeControl || event.Source != "/podium/somebody" || event.Subject != "r" || event.Time.IsZero() {
			t.Errorf("event %+v (%v)", event, err)
		}
		var got schemas.Control
		if err = schemas.Unmarshal(event.Data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("it says %.200v (%v)", got, err)
		}
	}

	full := intake.NewIntake(memory.New(1, memory.WithMaxBytes(1)))
	if _, err := full.SubmitControl(t.Context(), "/podium/somebody", 0, &schemas.Control{Action: schemas.ControlAnswer, Run: "r", Text: "yes"}); !errors.Is(err, bus.ErrFull) {
		t.Errorf("words for a full ledger: %v", err)
	}
}
