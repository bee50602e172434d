package intake_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/intake"
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
		usage := intake.NewUsage(ledger)
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
	if _, err := intake.NewIntake(storeless{memory.New(1)}).Submit(t.Context(), "chat", incoming("1", "k")); err != nil {
		t.Error(err)
	}
}

// A filling ledger is full to some percent, and counts who asks.
type filling struct {
	bus.Ledger

	percent uint64
	asked   int
}

func (f *filling) State(_ context.Context, stream string) (bus.StreamState, error) {
	if stream == bus.ArtifactStream {
		return bus.StreamState{}, nil
	}
	f.asked++
	return bus.StreamState{Bytes: f.percent, MaxBytes: 100}, nil
}

// A shard that is nearly full is looked at for each message: what others have stored since
// the last one may be all that was left. Far from it, what is stored meanwhile is counted.
func TestUsageOfAShardThatIsNearlyFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ledger := &filling{percent: 10}
		usage := intake.NewUsage(ledger)
		shares := func(percent, asked int) {
			t.Helper()
			fill, err := usage.Fill(t.Context(), 0)
			if err != nil || int(fill.Share()) != percent || ledger.asked != asked {
				t.Errorf("it is full to %s, and was asked %d times (%v); want %d and %d", fill, ledger.asked, err, percent, asked)
			}
		}
		shares(10, 1)
		ledger.percent = 40
		shares(10, 1)
		usage.Add(bus.ShardStream(0), 65)
		shares(75, 1)
		usage.Add(bus.ShardStream(0), 10)
		shares(40, 2)
		ledger.percent = 80
		time.Sleep(time.Second)
		shares(80, 3)
		ledger.percent = 95
		shares(95, 4)
	})
}
