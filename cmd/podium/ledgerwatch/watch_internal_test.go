package ledgerwatch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/cmd/podium/config"
	"podium/cmd/podium/installation"
)

// TestDamageFoundByARestartIsSaid: the server has met a full disk, there is room again, and the
// look before it is started again finds damage.
func TestDamageFoundByARestartIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ledger, err := installation.OpenLedger(t.Context(), config.Ledger{Data: dir, Durability: config.DurabilityFsync, Shards: 1}, nil, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := bus.Append(t.Context(), ledger.Core, bus.Message{Subject: "podium.in.chat.0", Body: []byte(`{"text":"this is what was said"}`)}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	w := New(ledger, zerolog.New(&log))
	w.lookForLoss(t.Context())
	w.set(&w.failed, fmt.Errorf("%w: its disk had no room for a message: make room there, and podium goes on by itself", bus.ErrFull)) // as checkWrites says
	file := filepath.Join(dir, "ledger/jetstream/CORE/streams/PODIUM_0/msgs/1.blk")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	content[len(content)/2+1] ^= 8
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.tried = time.Time{}
		w.resume(t.Context())
	}
	if said, _, takes := w.Health(t.Context()); !strings.Contains(said, "is damaged") || takes {
		t.Errorf("health says %q, and takes %t", said, takes)
	}
	if err := ledger.Close(); err == nil {
		t.Error("the stop says nothing")
	}
	if found, err := installation.CheckLedger(t.Context(), dir, zerolog.Nop()); err != nil || len(found.Open) == 0 {
		t.Errorf("the check says %v, %v", found, err)
	}
}
