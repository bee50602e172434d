package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
)

// atRest makes a ledger and stops its server.
func atRest(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	server := start(t, embedded.Config{Dir: dir})
	c := core(t, server)
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0), Body: []byte("kept")}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func look(t *testing.T, dir string) *embedded.Server {
	t.Helper()
	reader, _, err := embedded.Look(t.Context(), embedded.Config{Dir: dir, MaxBytes: embedded.AsItIs, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// TestStartWaitsForReaders: a service that is started while a verb reads the ledger begins
// when that has ended, and ends at once when it is told to.
func TestStartWaitsForReaders(t *testing.T) {
	t.Parallel()
	dir := atRest(t)
	reader := look(t, dir)
	ctx, give := context.WithCancel(t.Context())
	waits := writerFunc(func([]byte) { give() })
	if _, err := embedded.Start(ctx, embedded.Config{Dir: dir, Logger: zerolog.New(waits)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that is told to end gives %v", err)
	}
	ended := make(chan error, 1)
	waits = func([]byte) { go func() { ended <- reader.Close() }() }
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.New(waits).Level(zerolog.InfoLevel)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-ended, server.Close()); err != nil {
		t.Error(err)
	}
}

// A writerFunc is told the first line that is logged about readers.
type writerFunc func([]byte)

func (f writerFunc) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("a verb reads the ledger")) {
		f(line)
	}
	return len(line), nil
}

// TestKilledReadersLeaveNothing: the copies of readers who were killed go when the next one
// looks; those of readers at work, and those that are being made, stay.
func TestKilledReadersLeaveNothing(t *testing.T) {
	dir, temporary := atRest(t), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary)
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"killed", "at-work", "new"} {
		folder := filepath.Join(temporary, "podium-look-"+name)
		if err := os.MkdirAll(filepath.Join(folder, "ledger"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "at-work" {
			lock := flock.New(filepath.Join(folder, "lock"))
			if locked, err := lock.TryLock(); err != nil || !locked {
				t.Fatal(locked, err)
			}
			defer func() { _ = lock.Close() }()
		}
		if name != "new" {
			if err := os.Chtimes(folder, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := look(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(temporary)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{"podium-look-at-work", "podium-look-new"}; !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
}

// TestRootIsKeptOffTheLedgerOfAnother: what root makes there could not be opened by whom it belongs to.
func TestRootIsKeptOffTheLedgerOfAnother(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		user, owner int
		refused     bool
	}{
		{"root, of a user", 0, 1000, true},
		{"root, of root", 0, 0, false},
		{"a user, of its own", 1000, 1000, false},
		{"a user who may, of another", 1000, 1001, false},
		{"no users here", -1, -1, false},
		{"nobody knows whose", 0, -1, false},
	} {
		err := embedded.RootFault("data/ledger", test.user, test.owner)
		if (err != nil) != test.refused || test.refused && !strings.Contains(err.Error(), "belongs to user 1000") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give files away
	}
	dir := atRest(t)
	if err := os.Chown(filepath.Join(dir, "ledger", "lock"), 1000, 1000); err != nil {
		t.Fatal(err)
	}
	config := embedded.Config{Dir: dir, Agents: []string{"another"}, Logger: zerolog.Nop()}
	if _, err := embedded.Start(t.Context(), config); err == nil || !strings.Contains(err.Error(), "belongs to user 1000") {
		t.Errorf("root starts a server: %v", err)
	}
	if _, err := embedded.Repair(t.Context(), config); err == nil {
		t.Error("root repairs it")
	}
	if _, err := os.Stat(filepath.Join(dir, "credentials", "agent-another.nk")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("root has made a key there: %v", err)
	}
}

// TestStopWhileTheLedgerIsRead: a large ledger takes a while to read. Whoever is told to end
// meanwhile does so, and has changed nothing.
func TestStopWhileTheLedgerIsRead(t *testing.T) {
	t.Parallel()
	dir := atRest(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	config := embedded.Config{Dir: dir, Logger: zerolog.Nop()}
	if _, err := embedded.Start(ctx, config); !errors.Is(err, context.Canceled) {
		t.Errorf("a start gives %v", err)
	}
	if _, _, err := embedded.Check(ctx, config); !errors.Is(err, context.Canceled) {
		t.Errorf("a check gives %v", err)
	}
	if _, err := embedded.Repair(ctx, config); !errors.Is(err, context.Canceled) {
		t.Errorf("a repair gives %v", err)
	}
	again, err := embedded.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if again.Unclean() {
		t.Error("they count as stops that were not in order")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestStandbyBeginsNoLedger: while somebody puts a backup in the place of a damaged directory,
// nothing stands there, or only a part. Who waits for the repair goes on waiting.
func TestStandbyBeginsNoLedger(t *testing.T) {
	t.Parallel()
	dir := atRest(t)
	changed := embedded.WatchFiles(dir)
	moved := dir + ".damaged"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if changed() {
			t.Fatal("the directory that was moved away counts as mended")
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "ledger", "jetstream"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if changed() {
			t.Fatal("the beginning of a copy counts as mended")
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.Rename(moved, dir), os.Chtimes(filepath.Join(dir, "high-water.json"), time.Time{}, time.Now())); err != nil {
		t.Fatal(err)
	}
	if changed() || !changed() {
		t.Error("a ledger whose marks were written is not seen, or not looked at twice")
	}
}
