package recovery_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
)

const streamsFolder = "ledger/jetstream/CORE/streams"

// crashed makes a ledger and copies it while its server runs, which is how the end of the
// process leaves it. Marked are the messages that were there when its marks were last written.
func crashed(t *testing.T, durability embedded.Durability, marked, later int) string {
	t.Helper()
	dir := written(t, durability, marked)
	o := open(t, dir, durability)
	defer closed(t, o)
	write(t, o, later)
	if err := o.core.Declare(t.Context(), "alpha", bus.Pool{Size: 4, AckWait: time.Second}); err != nil {
		t.Fatal(err)
	}
	w, err := o.Worker(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	deliveries, err := w.Fetch(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deliveries {
		if err := d.Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(dir, streamsFolder, "PODIUM_WORK/obs/alpha/o.dat")
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(state); err == nil {
			break
		}
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("the server writes no state of the consumer")
		}
	}
	return copied(t, dir)
}

// TestCrashIsGoneOver: files as the end of a process or a loss of power may leave them keep
// nobody from starting, and lose nothing that stands in them, however often it happens.
func TestCrashIsGoneOver(t *testing.T) {
	t.Parallel()
	sound := crashed(t, embedded.Interval, 0, 0)
	for name, tear := range map[string]func(folder string) error{
		"as the process left it": func(string) error { return nil },
		"an empty checksum of a stream's settings": func(folder string) error {
			return os.Truncate(filepath.Join(folder, "PODIUM_0/meta.sum"), 0)
		},
		"empty settings of a stream": func(folder string) error {
			return errors.Join(os.Truncate(filepath.Join(folder, "PODIUM_0/meta.inf"), 0), os.Truncate(filepath.Join(folder, "PODIUM_0/meta.sum"), 0))
		},
		"a torn state of a consumer": func(folder string) error {
			return os.Truncate(filepath.Join(folder, "PODIUM_WORK/obs/alpha/o.dat"), 1)
		},
		"no state of a consumer": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "PODIUM_WORK/obs/alpha/o.dat"), make([]byte, 40), 0o600)
		},
		"torn settings of a consumer": func(folder string) error {
			return os.Truncate(filepath.Join(folder, "PODIUM_WORK/obs/alpha/meta.inf"), 7)
		},
		"no checksum of a consumer's settings": func(folder string) error {
			return os.Remove(filepath.Join(folder, "PODIUM_WORK/obs/alpha/meta.sum"))
		},
		"an index that is older than the blocks": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "PODIUM_0/msgs/index.db"), []byte("of another time"), 0o600)
		},
		"a message that was written in part": func(folder string) error {
			return addTo(filepath.Join(folder, "PODIUM_0/msgs/1.blk"), []byte{200, 0, 0, 0, 41, 0, 0})
		},
		"zeros behind the last message": func(folder string) error {
			return addTo(filepath.Join(folder, "PODIUM_0/msgs/1.blk"), make([]byte, 4096))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, sound)
			if err := tear(filepath.Join(dir, streamsFolder)); err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, dir)
			if losses := lost(t, dir); len(losses) > 0 {
				t.Errorf("it has lost %v", losses)
			}
			if !maps.Equal(before, bytesOf(t, dir)) {
				t.Error("looking has changed something")
			}
			o := open(t, dir, embedded.Interval)
			defer closed(t, o)
			if !o.Unclean() || o.core.Shards() != 2 {
				t.Errorf("unclean %t, %d shards", o.Unclean(), o.core.Shards())
			}
			for shard := range 2 {
				state, err := o.core.State(t.Context(), bus.ShardStream(shard))
				if err != nil || state.Last != 40 || state.Messages != 40 {
					t.Errorf("shard %d: %+v, %v", shard, state, err)
				}
			}
			takes(t, o)
			for range 2 { // what is written then stands where the torn end stood
				again := copied(t, dir)
				if losses := lost(t, again); len(losses) > 0 {
					t.Errorf("after the next crash it has lost %v", losses)
				}
				next := open(t, again, embedded.Interval)
				defer closed(t, next)
				takes(t, next)
				dir = again
			}
		})
	}
}

func addTo(file string, content []byte) error {
	held, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(held, content...), 0o600)
}

// takes expects a ledger to take messages and to hand out a request.
func takes(t *testing.T, o *opened) {
	t.Helper()
	write(t, o, 0)
	if err := o.core.Declare(t.Context(), "alpha", bus.Pool{Size: 4, AckWait: time.Second}); err != nil {
		t.Fatal(err)
	}
	w, err := o.Worker(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if deliveries, err := w.Fetch(t.Context(), 1); err != nil || len(deliveries) == 0 {
		t.Errorf("handed out: %d, %v", len(deliveries), err)
	}
}

// TestCrashBeforeTheFirstMessage: a ledger that nobody has written to yet, twice.
func TestCrashBeforeTheFirstMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		o := open(t, dir, embedded.Interval)
		crashed := copied(t, dir)
		closed(t, o)
		if losses := lost(t, crashed); len(losses) > 0 {
			t.Errorf("it has lost %v", losses)
		}
		dir = crashed
	}
	o := open(t, dir, embedded.Interval)
	defer closed(t, o)
	takes(t, o)
}

// TestHoleIsGoneOver: a block that was left before it was flushed, and has lost its end,
// while the one behind it is whole. What stands behind the hole builds on what is lost.
func TestHoleIsGoneOver(t *testing.T) {
	t.Parallel()
	dir := crashed(t, embedded.Interval, 0, 12)
	stream := filepath.Join(dir, streamsFolder, "PODIUM_1")
	if err := filestore.CutBehind(stream, 2, 48); err != nil {
		t.Fatal(err)
	}
	o := open(t, dir, embedded.Interval)
	defer closed(t, o)
	losses := o.Losses()
	if len(losses) != 1 || losses[0].First != 48 || losses[0].Last != 52 || !losses[0].Promised || losses[0].Kept == "" {
		t.Fatalf("it says %+v", losses)
	}
	if kept, err := os.ReadDir(losses[0].Kept); err != nil || len(kept) != 1 {
		t.Errorf("kept is %v, %v", kept, err)
	}
	state, err := o.core.State(t.Context(), bus.ShardStream(1))
	if err != nil || state.Last != 47 {
		t.Errorf("it ends at %+v, %v", state, err)
	}
	takes(t, o)
}

// TestDamageIsNoCrash: what was flushed long ago cannot have gone with the power.
func TestDamageIsNoCrash(t *testing.T) {
	t.Parallel()
	sound := crashed(t, embedded.Interval, 12, 0)
	for name, harm := range map[string]func(stream string) error{
		"a flipped bit": func(stream string) error {
			file := filestore.BlockFile(stream, 2)
			content, err := os.ReadFile(file)
			if err == nil {
				content[len(content)/2] ^= 4
				err = os.WriteFile(file, content, 0o600)
			}
			return err
		},
		"a bucket": func(stream string) error {
			return os.RemoveAll(filepath.Join(filepath.Dir(stream), "KV_PODIUM_MAILBOXES"))
		},
		"a cut in the middle": func(stream string) error { return filestore.CutBehind(stream, 2, 27) },
		"a cut at the end": func(stream string) error {
			return errors.Join(os.Remove(filestore.BlockFile(stream, 3)), filestore.CutBehind(stream, 2, 28))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, sound)
			if err := harm(filepath.Join(dir, streamsFolder, "PODIUM_1")); err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, dir)
			refused(t, dir)
			if !maps.Equal(before, withoutLock(bytesOf(t, dir), dir)) {
				t.Error("the refused start has changed something")
			}
			repaired(t, dir)
		})
	}
}

// TestCheckAndStartAgree: the length of a subject, which no checksum covers, has one flipped bit
// in what was there before a crash.
func TestCheckAndStartAgree(t *testing.T) {
	t.Parallel()
	dir := crashed(t, embedded.Fsync, 12, 0)
	file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 1)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte("podium.in.chat.1{")) // a message without headers
	content[at-2] ^= 1                                      // 16 becomes 17
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if losses := lost(t, dir); len(losses) != 1 || losses[0].Cause != recovery.Damaged {
		t.Errorf("the check says %v", losses)
	}
	refused(t, dir)
	repaired(t, dir)
}

// TestMessagesAroundDamageStay: a repair leaves out what cannot be read, and nothing else.
func TestMessagesAroundDamageStay(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Fsync, 12)
	file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 2)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if losses := lost(t, dir); len(losses) != 1 || losses[0].Messages() != 1 || losses[0].Behind != losses[0].First+1 {
		t.Fatalf("lost is %+v", losses)
	}
	repaired(t, dir)
	o := open(t, dir, embedded.Fsync)
	defer closed(t, o)
	read := 0
	for _, err := range o.core.Scan(t.Context(), bus.ShardStream(1), 1) {
		if err != nil {
			t.Fatal(err)
		}
		read++
	}
	if read != 32-1+2*20 {
		t.Errorf("%d messages are left", read)
	}
}

// TestFlippedBitIsRestored: what one flipped bit has made unreadable is there again after
// a repair, byte by byte, wherever in its record the bit was.
func TestFlippedBitIsRestored(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Interval, 0)
	file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 1)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{4, 40, 100, len(content) / 2, len(content) - 100} {
		flipped := slices.Clone(content)
		flipped[at] ^= 8
		if err := os.WriteFile(file, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
		if err != nil || len(losses) != 1 || !losses[0].Restored || losses[0].Kept == "" {
			t.Errorf("byte %d: repaired is %+v, %v", at, losses, err)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, content) {
			t.Errorf("byte %d: the block is another than it was, %v", at, err)
		}
		if losses := lost(t, dir); len(losses) > 0 {
			t.Errorf("byte %d: it has lost %v", at, losses)
		}
	}
}

// TestUncleanUntilAServiceHasSeenIt: what a verb does with a ledger at rest in between
// changes nothing of how the service stopped.
func TestUncleanUntilAServiceHasSeenIt(t *testing.T) {
	t.Parallel()
	dir := crashed(t, embedded.Fsync, 0, 0)
	for range 2 {
		server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, MaxBytes: embedded.AsItIs, AtRest: true, Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, unclean := range []bool{true, false} {
		o := open(t, dir, embedded.Fsync)
		if o.Unclean() != unclean {
			t.Errorf("unclean is %t, want %t", o.Unclean(), unclean)
		}
		closed(t, o)
	}
}

// TestLookChangesNothing: a server that only shows a ledger, sound or damaged, leaves every
// byte and file as it is, and shows everything that can be read.
func TestLookChangesNothing(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"stopped": written(t, embedded.Fsync, 12), "crashed": crashed(t, embedded.Fsync, 12, 0)} {
		for _, damaged := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, damaged %t", name, damaged), func(t *testing.T) {
				t.Parallel()
				dir := copied(t, dir)
				if damaged {
					file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 2)
					content, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					content[len(content)/2] ^= 4
					if err := os.WriteFile(file, content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				before := bytesOf(t, dir)
				shown(t, dir, damaged)
				if !maps.Equal(before, bytesOf(t, dir)) {
					t.Error("looking has changed something")
				}
			})
		}
	}
}

func shown(t *testing.T, dir string, damaged bool) {
	t.Helper()
	server, lost, err := embedded.Look(t.Context(), embedded.Config{Dir: dir, MaxBytes: embedded.AsItIs, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if (len(lost) > 0) != damaged {
		t.Errorf("lost is %v", lost)
	}
	core, err := server.Core(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read, last := uint64(0), uint64(0)
	for message, err := range core.Scan(t.Context(), bus.ShardStream(1), 1) {
		if err != nil {
			t.Fatal(err)
		}
		read, last = read+1, message.Sequence
	}
	want := last
	if damaged {
		want--
	}
	if last < 32 || read != want {
		t.Errorf("%d messages up to %d are shown", read, last)
	}
	// What it writes is its own: the work of its consumers, and what expires meanwhile.
	if _, err := bus.Append(t.Context(), core, bus.Message{Subject: "podium.in.chat.1", Body: []byte("{}")}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	core.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
}
