package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
)

// TestOnlyAWriteWithoutRoomHeals: a flush that finds no room has lost what was acknowledged, for each
// cause that the error names.
func TestOnlyAWriteWithoutRoomHeals(t *testing.T) {
	t.Parallel()
	for detail, heals := range map[string]bool{
		"write /d/msgs/1.blk: no space left on device":       true,
		"open /d/msgs/2.blk: no space left on device":        true,
		"write /d/msgs/1.blk: disk quota exceeded":           true,
		"sync /d/msgs/1.blk: no space left on device":        false,
		"sync /d/msgs/1.blk: disk quota exceeded":            false,
		"close /d/msgs/1.blk: no space left on device":       false,
		"fsync: no space left on device":                     false,
		"write /d/msgs/1.blk: input/output error":            false,
		"open /d/msgs/2.blk: read-only file system":          false,
		"sync /d/write /msgs/1.blk: no space left on device": false,
		"no space left on device":                            false,
		"":                                                   false,
	} {
		if got := roomless(detail); got != heals {
			t.Errorf("%q heals: %t, want %t", detail, got, heals)
		}
	}
}

// TestFailedFlushEndsTheLedgersLife: from then on nothing is acknowledged, over any connection, and the server is not
// started again. The directory says so until a start has read the disk.
func TestFailedFlushEndsTheLedgersLife(t *testing.T) {
	t.Parallel()
	config := Config{Dir: t.TempDir(), Durability: Interval, Shards: 1, Logger: zerolog.Nop()}
	server, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := server.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := server.Core(t.Context()) // nothing holds it back, as a verb in another process
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err = bus.Append(t.Context(), core, bus.Message{Subject: bus.ControlSubject(0), Body: []byte("kept")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	server.recovery.Flusher().Fail(errors.New("sync 1.blk: no space left on device"))
	if err = server.CheckWrites(); !errors.Is(err, bus.ErrFailed) || errors.Is(err, bus.ErrFull) {
		t.Errorf("the server says %v", err)
	}
	if _, err = bus.Append(t.Context(), other, bus.Message{Subject: bus.ControlSubject(0), Body: []byte("not kept")}, bus.Expect{}); err == nil {
		t.Error("a message is acknowledged after the failure")
	}
	if err = server.Restart(t.Context()); !errors.Is(err, bus.ErrFailed) {
		t.Errorf("started again: %v", err)
	}
	said, err := os.ReadFile(filepath.Join(config.Dir, "failed"))
	if err != nil || !strings.Contains(string(said), "no space left") {
		t.Errorf("the directory says %q, %v", said, err)
	}
	core.Close()
	other.Close()
	_ = server.Close()
	if server, err = Start(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	if !server.Unclean() || server.Failed() != nil {
		t.Errorf("the next start: unclean %t, failed %v", server.Unclean(), server.Failed())
	}
	if _, err = os.Stat(filepath.Join(config.Dir, "failed")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the failure is on record after a start that has read the disk: %v", err)
	}
}
