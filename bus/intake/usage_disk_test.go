package intake_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/intake"
	"podium/bus/memory"
	"podium/schemas"
)

// A crowded ledger is on a disk that others have filled.
type crowded struct {
	bus.Core
	disk bus.Disk
}

// State implements bus.Ledger.
func (c *crowded) State(ctx context.Context, stream string) (bus.StreamState, error) {
	state, err := c.Core.State(ctx, stream)
	state.Disk = c.disk
	return state, err
}

// TestIntakeIsRefusedByTheDisk: the last tenth of what the disk has is kept for what is
// under way, whatever the limit of the streams is, and the error says what is full.
func TestIntakeIsRefusedByTheDisk(t *testing.T) {
	t.Parallel()
	e := schemas.Event{
		ID: "m1", Source: "/test", Type: schemas.TypeChatReceived, Profile: "desk",
		DataContentType: schemas.MediaTypeJSON, Data: []byte(`{}`),
	}
	for free, full := range map[int64]bool{1<<30 + 1<<20: false, 1<<30 - 1<<20: true, 0: true} {
		core := &crowded{memory.New(2), bus.Disk{Used: 9 << 30, Free: free, Known: true}}
		_, err := intake.NewIntake(core).Submit(t.Context(), "chat", e)
		if errors.Is(err, bus.ErrFull) != full || full && !strings.Contains(err.Error(), "MB are left") {
			t.Errorf("%d bytes free: %v", free, err)
		}
	}
	fill := intake.Fill{Stream: bus.ShardStream(1), Limit: 91, Disk: bus.Disk{Used: 1, Free: 1 << 40, Known: true}}
	if said := fill.String(); !strings.Contains(said, "shard 1") || !strings.Contains(said, "ledger.max_bytes") {
		t.Errorf("it says %q", said)
	}
}
