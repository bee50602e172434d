package taskplan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"podium/bus/memory"
	"podium/schemas"
)

// TestPlaceThatIsNone: without a place, with one that cannot be read, and with one of a ledger that was longer, a follower begins at the first record.
func TestPlaceThatIsNone(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	follower := Follower{Core: memory.New(1), Data: data}
	if err := (Folders{"desk": filepath.Join(t.TempDir(), "made")}).Keep(data); err != nil {
		t.Fatal(err)
	}
	for _, written := range []string{"", `{"next": 9`, `{"next": 999, "open": ["a-1"]}`} {
		if written != "" {
			if err := os.WriteFile(follower.file(), []byte(written), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if at, err := follower.load(t.Context()); err != nil || at.Next != 1 || len(at.Open) != 0 {
			t.Errorf("%s: %+v, %v", written, at, err)
		}
	}
	if err := follower.keep(place{Next: 1, Open: []string{"a-1"}}); err != nil {
		t.Fatal(err)
	}
	if at, err := follower.load(t.Context()); err != nil || at.Next != 1 || !slices.Equal(at.Open, []string{"a-1"}) {
		t.Errorf("%+v, %v", at, err)
	}
}

// TestTakesWhatIsAboutPlans: a run is looked at from its plan on, once for each record, and never when its message is its only task.
func TestTakesWhatIsAboutPlans(t *testing.T) {
	t.Parallel()
	session := schemas.SessionID("desk", "thread")
	record := func(facts ...schemas.Fact) *schemas.Record {
		return &schemas.Record{Session: session, Transitions: []schemas.Transition{{Facts: facts}}}
	}
	var at place
	if runs := at.take(record(&schemas.PlanCreated{Run: 1}, &schemas.RunSettled{Run: 1})); len(runs) != 0 || len(at.Open) != 0 {
		t.Errorf("a run without a plan: %v", runs)
	}
	for range 2 {
		runs := at.take(record(&schemas.PlanCreated{Run: 2, Source: schemas.PlannerTemplate}, &schemas.TaskReady{Run: 2}, &schemas.TaskReady{Run: 1}))
		if want := []string{schemas.RunID(session, 2)}; !slices.Equal(runs, want) || !slices.Equal(at.Open, want) {
			t.Errorf("%v, open %v", runs, at.Open)
		}
	}
}
