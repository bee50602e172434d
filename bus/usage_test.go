package bus_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/memory"
)

// A stateless ledger is away, and counts who asks for its state.
type stateless struct {
	bus.Ledger

	asked int
}

func (s *stateless) State(context.Context, string) (bus.StreamState, error) {
	s.asked++
	return bus.StreamState{}, errors.New("away")
}

// A ledger that is away is not asked for each message anew.
func TestUsageOfALedgerThatIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &stateless{}
		usage := bus.NewUsage(ledger)
		for range 3 {
			for range 100 {
				if _, err := usage.Fill(t.Context(), 0); err == nil {
					t.Fatal("it knows the share of a ledger that is away")
				}
			}
			time.Sleep(time.Second)
		}
		if ledger.asked != 3 {
			t.Errorf("in three seconds it was asked %d times", ledger.asked)
		}
	})
}

// A storeless ledger cannot say how full the artifacts are.
type storeless struct{ bus.Core }

// State implements bus.Ledger.
func (s storeless) State(ctx context.Context, stream string) (bus.StreamState, error) {
	if stream == bus.ArtifactStream {
		return bus.StreamState{}, &bus.TemporaryError{Op: "state", Err: errors.New("no leader")}
	}
	return s.Core.State(ctx, stream)
}

// A message that needs no artifact is taken while their store has no leader.
func TestIntakeWithoutTheStoreOfArtifacts(t *testing.T) {
	t.Parallel()
	if _, err := bus.NewIntake(storeless{memory.New(1)}).Submit(t.Context(), "chat", incoming("1", "k")); err != nil {
		t.Error(err)
	}
}
