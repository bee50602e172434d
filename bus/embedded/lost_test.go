package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
)

// TestLostDiskIsNamed: a server that comes back without its streams, or with other or
// earlier ones, has lost messages, and the error says which; one that comes back with
// all of them has not.
func TestLostDiskIsNamed(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{Durability: embedded.Interval})
	c := processCore(t, process)
	for range 5 {
		must(t, c, "kept")
	}
	if err := c.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := process.Store()
	aside, early := store+"-aside", store+"-early"
	process.Kill()
	if err := os.CopyFS(early, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	process.Restart()
	last := mustSoon(t, c, "more")

	replace := func(with string) {
		t.Helper()
		process.Kill()
		if err := os.Rename(store, aside); err != nil {
			t.Fatal(err)
		}
		if with != "" {
			if err := os.Rename(with, store); err != nil {
				t.Fatal(err)
			}
		}
		process.Restart()
	}
	lost := func(what string) *bus.LostError {
		t.Helper()
		err := verifySoon(t, c.Verify)
		var found *bus.LostError
		if !errors.As(err, &found) || !errors.Is(err, bus.ErrLost) || bus.Temporary(err) {
			t.Fatalf("%s: %v", what, err)
		}
		return found
	}
	back := func() {
		t.Helper()
		process.Kill()
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(aside, store); err != nil {
			t.Fatal(err)
		}
		process.Restart()
		if err := verifySoon(t, c.Verify); err != nil {
			t.Fatalf("with its disk back: %v", err)
		}
		last = mustSoon(t, c, "again")
	}

	replace("")
	if found := lost("an empty disk"); !found.Gone {
		t.Errorf("an empty disk: %+v", found)
	}
	back()

	replace(early)
	found := lost("an earlier state")
	if found.Gone || found.Stream != bus.ShardStream(0) || found.Seen != last || found.Ends != 5 {
		t.Errorf("an earlier state: %+v, and %d was seen", found, last)
	}
	if said := found.Error(); !strings.Contains(said, "PODIUM_0 ends at 5, and 7 was seen") || !strings.Contains(said, "restore a backup") {
		t.Errorf("it says %q", said)
	}
	back()

	replace("")
	processCore(t, process) // somebody makes the streams anew
	if found := lost("streams made anew"); found.Gone {
		t.Errorf("streams made anew: %+v", found)
	}
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0)}, bus.Expect{}); !bus.Temporary(err) {
		t.Errorf("what a stream made anew has taken counts as stored: %v", err)
	}
}

// verifySoon asks until the connection is back.
func verifySoon(t *testing.T, verify func(ctx context.Context) error) error {
	t.Helper()
	for ctx := deadline(t); ; {
		err := verify(ctx)
		if !bus.Temporary(err) {
			return err
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestRemovedStreamIsNamed: a server goes on with files that were removed. Whoever
// looks at its directory sees it.
func TestRemovedStreamIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, embedded.Config{Dir: dir})
	c := core(t, server)
	if err := server.CheckStreams(c.Streams()...); err != nil {
		t.Fatal(err)
	}
	stream := filepath.Join(dir, "ledger", "jetstream", "CORE", "streams", bus.ShardStream(1))
	for state, change := range []func() error{
		func() error { return os.RemoveAll(stream) },
		func() error { return os.MkdirAll(filepath.Join(stream, "obs", "late"), 0o700) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		var lost *bus.LostError
		if err := server.CheckStreams(c.Streams()...); !errors.As(err, &lost) || !lost.Gone || lost.Stream != bus.ShardStream(1) {
			t.Errorf("%s: %v", [...]string{"a stream without a directory", "a directory made anew for a consumer"}[state], err)
		}
	}
}
