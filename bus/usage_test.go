package bus_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
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
				if _, err := usage.Share(t.Context(), 0); err == nil {
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
