package supervisor

import (
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus/memory"
)

// TestCheckpointSpacing: the more sessions a checkpoint names, the longer the
// wait for the next; the wait is bounded.
func TestCheckpointSpacing(t *testing.T) {
	t.Parallel()
	const every = 2 * time.Second
	for _, test := range []struct {
		open int
		wait time.Duration
	}{
		{0, every},
		{1, every + time.Millisecond},
		{1000, every + time.Second},
		{59_999, every + 59_999*time.Millisecond},
		{60_000, every + time.Minute},
		{60_001, every + time.Minute},
		{90_000, every + time.Minute},
	} {
		t.Run(strconv.Itoa(test.open), func(t *testing.T) {
			t.Parallel()
			o := NewOwner(Config{
				Core: memory.New(1), Name: "one", Log: zerolog.Nop(), CheckpointEvery: every, Go: func(operation func()) { operation() },
			})
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			if err := o.Open(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			for i := range test.open {
				o.conversation(strconv.Itoa(i)).busy = true
			}
			o.writeCheckpoint(t.Context(), now, false)
			for range 3 { // to the object store, to the stream, acknowledged
				o.complete(now)
			}
			o.floor.leave(o.floor.enter(1)) // there is something new to say
			next, due := o.Next()
			if !due || next.Sub(now) != test.wait {
				t.Errorf("the next is due after %s (%v), want %s", next.Sub(now), due, test.wait)
			}
		})
	}
}
