package recovery_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
)

// written makes a ledger of every kind of stream and stops it in order. Large bodies make
// several blocks of a shard.
func written(t *testing.T, durability embedded.Durability, large int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	server := open(t, dir, durability)
	write(t, server, large)
	closed(t, server)
	return dir
}

type opened struct {
	*embedded.Server
	core bus.Core
	end  func()
}

func open(t *testing.T, dir string, durability embedded.Durability) *opened {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Durability: durability, Agents: []string{"alpha"}, Shards: 2, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	core, err := server.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &opened{Server: server, core: core, end: core.Close}
}

func closed(t *testing.T, o *opened) {
	t.Helper()
	o.end()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, o *opened, large int) {
	t.Helper()
	add := func(subject string, header bus.Header, body []byte) {
		if _, err := bus.Append(t.Context(), o.core, bus.Message{Subject: subject, Header: header, Body: body}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		add(fmt.Sprintf("podium.session.%d.0b7e7b1e-%04d", i%2, i), bus.Header{"ce-id": {strconv.Itoa(i)}}, fmt.Appendf(nil, `{"record":%d}`, i))
		add(fmt.Sprintf("podium.in.chat.%d", i%2), nil, fmt.Appendf(nil, `{"text":"what %d says"}`, i))
	}
	body := bytes.Repeat([]byte("large "), 1<<18)
	for range large {
		add("podium.in.chat.1", nil, slices.Concat([]byte(`{"`), body, []byte(`":1}`)))
	}
	add(bus.RequestSubject("alpha"), bus.Header{"ce-id": {"r"}}, []byte(`{"task":1}`))
	store := o.core.KeyValue(bus.MailboxBucket)
	for i := range 5 {
		if _, err := store.Put(t.Context(), "mailbox.a", fmt.Appendf(nil, `{"uid":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.core.Artifacts().Put(t.Context(), strings.NewReader("an artifact"), "text/plain"); err != nil {
		t.Fatal(err)
	}
}

// blocks returns the files of messages of a ledger.
func blocks(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	folders, err := filestore.Folders(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "msgs", "*.blk"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("there are no blocks")
	}
	return files
}

// lost returns what a ledger has lost.
func lost(t *testing.T, dir string) []recovery.Loss {
	t.Helper()
	found, _, err := embedded.Check(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bytesOf is a digest of every file below a directory.
func bytesOf(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	sums := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		sums[name] = sha256.Sum256(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestEveryFlippedBitIsSeen: one bit that is another than it was written is noticed, in
// whatever block it is and wherever there.
func TestEveryFlippedBitIsSeen(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Interval, 0)
	if losses := lost(t, dir); len(losses) > 0 {
		t.Fatalf("a sound ledger has lost %v", losses)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a seed repeats it
	for _, file := range blocks(t, dir) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := range content {
			flipped := slices.Clone(content)
			flipped[at] ^= 1 << random.IntN(8)
			if err = os.WriteFile(file, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if losses := lost(t, dir); len(losses) == 0 {
				t.Errorf("byte %d of %s is %#x instead of %#x, and nobody notices", at, file, flipped[at], content[at])
			}
		}
		if err = os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsGoneIsSeen: a tail that was cut at a message, a block, a stream and the whole
// ledger: each is said, by the start too, which changes nothing.
func TestWhatIsGoneIsSeen(t *testing.T) {
	t.Parallel()
	sound := written(t, embedded.Interval, 12)
	stream := filepath.Join("ledger", "jetstream", "CORE", "streams", "PODIUM_1")
	for name, harm := range map[string]struct {
		do   func(dir string) error
		says string
	}{
		"a tail":         {func(dir string) error { return filestore.CutBehind(filepath.Join(dir, stream), 3, 32) }, "PODIUM_1 has lost message 32, since"},
		"a middle block": {func(dir string) error { return os.Remove(filepath.Join(dir, stream, "msgs", "2.blk")) }, "PODIUM_1 has lost 5 messages"},
		"the last block": {func(dir string) error { return os.Remove(filepath.Join(dir, stream, "msgs", "3.blk")) }, "messages, 31 to 32"},
		"a stream":       {func(dir string) error { return os.RemoveAll(filepath.Join(dir, stream)) }, "PODIUM_1 has lost 32 messages, 1 to 32: its folder is gone"},
		"the first": {func(dir string) error {
			return os.RemoveAll(filepath.Join(dir, filepath.Dir(stream), "PODIUM_0"))
		}, "PODIUM_0 has lost 20 messages, 1 to 20"},
		"a bucket": {func(dir string) error {
			return os.RemoveAll(filepath.Join(dir, filepath.Dir(stream), "KV_PODIUM_MAILBOXES"))
		}, "KV_PODIUM_MAILBOXES has lost 5 messages"},
		"everything": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "ledger")) }, "PODIUM_0 has lost 20 messages"},
		"settings":   {func(dir string) error { return os.Truncate(filepath.Join(dir, stream, "meta.inf"), 10) }, "settings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, sound)
			if err := harm.do(dir); err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, dir)
			var said strings.Builder
			for _, loss := range lost(t, dir) {
				said.WriteString(loss.String() + "\n")
			}
			if !strings.Contains(said.String(), harm.says) {
				t.Errorf("it says %q, want %q", &said, harm.says)
			}
			refused(t, dir)
			if after := bytesOf(t, dir); !maps.Equal(before, withoutLock(after, dir)) {
				t.Error("looking has changed something")
			}
			repaired(t, dir)
		})
	}
}

// refused expects a start to refuse a ledger because of its losses.
func refused(t *testing.T, dir string) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err == nil {
		err = server.Close()
		t.Fatalf("a damaged ledger is opened: %v", err)
	}
	if _, ok := errors.AsType[*recovery.LossError](err); !ok || !strings.Contains(err.Error(), "podium ledger repair --data "+dir) {
		t.Errorf("the error is %v", err)
	}
}

// repaired expects a ledger that was repaired to open, to have nothing new to say, and to
// remember.
func repaired(t *testing.T, dir string) *opened {
	t.Helper()
	losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err != nil || len(losses) == 0 {
		t.Fatalf("repaired: %v, %v", losses, err)
	}
	for range 2 { // it does not come up again
		for _, loss := range lost(t, dir) {
			if !loss.Accepted {
				t.Errorf("after the repair it says %s", loss.String())
			}
		}
		o := open(t, dir, embedded.Interval)
		if known := o.Losses(); len(known) != len(losses) {
			t.Errorf("the ledger remembers %v, and %v was repaired", known, losses)
		}
		write(t, o, 0)
		closed(t, o)
	}
	return nil
}

// withoutLock leaves out the file by which a server keeps others off, which a start makes
// where it is missing.
func withoutLock(files map[string][32]byte, dir string) map[string][32]byte {
	delete(files, filepath.Join(dir, "ledger", "lock"))
	return files
}

// copied is a copy of a ledger, as it would be on another disk.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for err := os.CopyFS(to, os.DirFS(dir)); err != nil; err = os.CopyFS(to, os.DirFS(dir)) {
		if !errors.Is(err, fs.ErrNotExist) { // else its server has renamed a file meanwhile
			t.Fatal(err)
		}
		to = t.TempDir()
	}
	for _, seed := range []string{"core.nk", "agent-alpha.nk"} {
		if err := os.Chmod(filepath.Join(to, "credentials", seed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, own := range []string{"lock", "lock.pid", "port"} {
		if err := os.Remove(filepath.Join(to, "ledger", own)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return to
}
