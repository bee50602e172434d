package imap_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	busintake "podium/bus/intake"
	"podium/bus/jetstream"
	"podium/schemas"
)

// onDisk is a fixture whose ledger stands in a directory, at durability interval. The
// function ends its server.
func onDisk(t *testing.T, dir string) (f *fixture, stop func()) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Shards: 2, Durability: embedded.Interval, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	var core *jetstream.Core
	if core, err = server.Core(t.Context()); err != nil {
		t.Fatal(err)
	}
	f = newFixture()
	f.disk = core
	f.intake = &intake{inner: busintake.NewIntake(core), submitted: make(chan schemas.Event, 10_000)}
	f.store = &store{KeyValue: core.KeyValue(bus.MailboxBucket)}
	return f, func() {
		core.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

// copyLedger copies a directory whose server runs, which is how the end of its process
// leaves it.
func copyLedger(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from)), os.Chmod(embedded.CoreSeedFile(filepath.Join(to, "credentials")), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"lock", "lock.pid", "port"} {
		if err := os.Remove(filepath.Join(to, "ledger", own)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestBucketThatLostItsFlushedValue: at the roll of a block the server removes the old one,
// with a flushed entry, and the new one is empty after a loss of power, or is not there.
func TestBucketThatLostItsFlushedValue(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(block string) error{
		"empty": func(block string) error { return os.Truncate(block, 0) },
		"gone":  os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir, cut := newScript(), t.TempDir(), t.TempDir()
			settings := config("localhost", 1)
			for life := range 2 { // the first one ends in order: all of it is flushed
				f, end := onDisk(t, dir)
				adapter, stop := f.run(t, settings, s.dial)
				connected(t, adapter)
				for range 3 {
					uid := s.deliver(message(int(s.next)))
					f.takes(t, adapter, uid)
				}
				eventually(t, "they are noted", func() bool { return int(f.position(t).Counts.Published) == 3*(life+1) }) //nolint:gosec // small
				if life == 1 {
					copyLedger(t, dir, cut)
				}
				stop()
				end()
			}
			blocks, err := filepath.Glob(filepath.Join(cut, "ledger/jetstream/CORE/streams/KV_"+bus.MailboxBucket+"/msgs/*.blk"))
			if err != nil || len(blocks) == 0 {
				t.Fatalf("blocks %v, %v", blocks, err)
			}
			for _, block := range blocks {
				if err := harm(block); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			waiting := s.deliver(message(7))
			f, end := onDisk(t, cut)
			defer end()
			adapter, stop := f.run(t, settings, s.dial)
			f.takes(t, adapter, waiting)
			f.rebuilt(t, adapter)
			stop()
		})
	}
}
