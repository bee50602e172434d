package ledgerwatch

import (
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// TestFailedDiskTakesNothingMore: after a failed flush the watcher says so and refuses what comes, and
// room on the disk does not heal it.
func TestFailedDiskTakesNothingMore(t *testing.T) {
	t.Parallel()
	ledger, err := installation.OpenLedger(t.Context(), config.Ledger{Data: t.TempDir(), Durability: config.DurabilityInterval, Shards: 1}, nil, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ledger.Close() }() // it is no stop in order
	w := New(ledger, zerolog.Nop())
	end := w.Watch()
	defer end()
	ledger.Server.Fail("sync 1.blk: no space left on device")
	for w.holds() == nil {
		if t.Context().Err() != nil {
			t.Fatal("nothing is held")
		}
	}
	w.resume(t.Context())
	if said, _, takes := w.Health(t.Context()); !strings.HasPrefix(said, "failed: ") || takes {
		t.Errorf("health says %q, and takes %t", said, takes)
	}
	_, err = bus.Append(t.Context(), ledger.Core, bus.Message{Subject: bus.ControlSubject(0), Body: []byte("{}")}, bus.Expect{})
	if !errors.Is(err, bus.ErrFailed) || errors.Is(err, bus.ErrFull) {
		t.Errorf("an append: %v", err)
	}
	if _, err = ledger.Core.KeyValue(bus.AgentBucket).Put(t.Context(), "alpha", []byte("here")); err == nil {
		t.Error("a value is stored")
	}
}
