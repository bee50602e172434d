package bustest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/schemas"
)

func testIntake(t *testing.T, s System) {
	t.Run("SubmitAll", func(t *testing.T) { testSubmitAll(t, s.Core) })
	t.Run("SubmitAllAfterItsEnd", func(t *testing.T) { testSubmitAllEnded(t, s.Core) })
}

func intakeEvent(id, conversation string) schemas.Event {
	return schemas.Event{
		ID: id, Source: "/podium/test", Type: schemas.TypeChatReceived, Profile: "desk", PartitionKey: conversation,
		DataContentType: schemas.MediaTypeJSON, Data: []byte(`{}`),
	}
}

// testSubmitAll: every event has one outcome, in its place; what is refused stops
// nobody; in a shard the events stand in the order in which they were given.
func testSubmitAll(t *testing.T, core bus.Core) {
	t.Helper()
	const events, refused = 200, 57
	given := make([]schemas.Event, events)
	for n := range given {
		given[n] = intakeEvent(fmt.Sprintf("event-%d", n), fmt.Sprintf("conversation-%d", n%7))
	}
	given[refused].Profile = ""
	ctx := deadline(t)
	outcomes := intake.NewIntake(core).SubmitAll(ctx, "chat", given)
	if len(outcomes) != events {
		t.Fatalf("%d outcomes", len(outcomes))
	}
	newest := map[int]uint64{}
	for n, outcome := range outcomes {
		if n == refused {
			if !errors.Is(outcome.Err, schemas.ErrInvalidEvent) {
				t.Errorf("an event without a profile: %v", outcome.Err)
			}
			continue
		}
		receipt := outcome.Receipt
		if outcome.Err != nil || receipt.Session != schemas.SessionID("desk", given[n].PartitionKey) || receipt.Sequence <= newest[receipt.Shard] {
			t.Fatalf("event %d: %+v, %v, after %d", n, receipt, outcome.Err, newest[receipt.Shard])
		}
		newest[receipt.Shard] = receipt.Sequence
		message, err := core.Get(ctx, bus.ShardStream(receipt.Shard), receipt.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := binding.Decode(message); err != nil || e.ID != given[n].ID {
			t.Errorf("event %d is stored as %q, %v", n, e.ID, err)
		}
	}
	if outcomes := intake.NewIntake(core).SubmitAll(ctx, "chat", nil); len(outcomes) != 0 {
		t.Errorf("no events have %d outcomes", len(outcomes))
	}
}

// testSubmitAllEnded: when the context has ended, an event that is not known to be
// stored may be submitted again.
func testSubmitAllEnded(t *testing.T, core bus.Core) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	given := []schemas.Event{intakeEvent("ended-1", "a"), intakeEvent("ended-2", "b"), intakeEvent("ended-3", "a")}
	for n, outcome := range intake.NewIntake(core).SubmitAll(ended, "chat", given) {
		if outcome.Err != nil && !bus.Temporary(outcome.Err) && !errors.Is(outcome.Err, context.Canceled) {
			t.Errorf("event %d: %v", n, outcome.Err)
		}
		if outcome.Err == nil && outcome.Receipt.Sequence == 0 {
			t.Errorf("event %d is stored nowhere", n)
		}
	}
	for n, outcome := range intake.NewIntake(core).SubmitAll(deadline(t), "chat", given) {
		if outcome.Err != nil {
			t.Errorf("event %d again: %v", n, outcome.Err)
		}
	}
}
