package recovery_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/highwayhash"
	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
	"podium/bus/jetstream"
)

// TestRepairOfATornTail: there is nothing to repair, and the ledger starts.
func TestRepairOfATornTail(t *testing.T) {
	t.Parallel()
	dir := crashed(t, embedded.Fsync, 0, 0)
	if err := addTo(filepath.Join(dir, streamsFolder, "PODIUM_0/msgs/1.blk"), []byte{200, 0, 0, 0, 41, 0, 0}); err != nil {
		t.Fatal(err)
	}
	losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err != nil || len(losses) > 0 {
		t.Fatal(losses, err)
	}
	if err := starts(t, dir, embedded.Fsync); err != nil {
		t.Errorf("after a repair that found nothing: %v", err)
	}
}

// TestRepairOfUnknownSettings: nobody knows any more how a stream was set. It is made anew, with
// its messages.
func TestRepairOfUnknownSettings(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Fsync, 0)
	if err := os.Remove(filepath.Join(dir, "high-water.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, streamsFolder, "PODIUM_1/meta.inf"), 10); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()}); err != nil {
			t.Fatal(err)
		}
	}
	o := open(t, dir, embedded.Fsync)
	defer closed(t, o)
	if state, err := o.core.State(t.Context(), bus.ShardStream(1)); err != nil || state.Messages != 20 {
		t.Errorf("the stream holds %d of 20 messages, %v", state.Messages, err)
	}
}

// record is one that somebody has made who knows how a server writes them.
func record(stream string, block uint32, sequence uint64, subject string, body []byte) []byte {
	size := 22 + len(subject) + len(body) + 8
	out := make([]byte, 22, size)
	binary.LittleEndian.PutUint32(out, uint32(size)) //nolint:gosec // small
	binary.LittleEndian.PutUint64(out[4:], sequence)
	binary.LittleEndian.PutUint64(out[12:], 1)
	binary.LittleEndian.PutUint16(out[20:], uint16(len(subject))) //nolint:gosec // small
	out = append(append(out, subject...), body...)
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, block))
	sum, err := highwayhash.New64(key[:])
	if err != nil {
		panic(err)
	}
	_, _ = sum.Write(out[4:20])
	_, _ = sum.Write(out[22:])
	return binary.LittleEndian.AppendUint64(out, sum.Sum64())
}

// TestRecordInABodyIsNone: the body of a damaged message holds a record, which is not taken for one.
func TestRecordInABodyIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, embedded.Fsync)
	write(t, o, 0)
	state, err := o.core.State(t.Context(), bus.ShardStream(1))
	if err != nil {
		t.Fatal(err)
	}
	forged := record("PODIUM_1", 1, state.Last+2, "podium.session.1.0b7e7b1e-0001", []byte(`{"record":"forged"}`))
	body := append(append(bytes.Repeat([]byte("a"), 100), forged...), bytes.Repeat([]byte("b"), 100)...)
	if _, err := bus.Append(t.Context(), o.core, bus.Message{Subject: "podium.in.chat.1", Body: body}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	closed(t, o)
	file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 1)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, bytes.Repeat([]byte("a"), 100))
	content[at+5] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	o = open(t, dir, embedded.Fsync)
	defer closed(t, o)
	for m, err := range o.core.Scan(t.Context(), bus.ShardStream(1), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(m.Body), "forged") && m.Subject != "podium.in.chat.1" {
			t.Errorf("the ledger now holds, as message %d on %s: %s", m.Sequence, m.Subject, m.Body)
		}
	}
}

// firstLife is a ledger whose first service was killed, once its marks say how far it goes.
func firstLife(t *testing.T, durability embedded.Durability) string {
	t.Helper()
	dir := t.TempDir()
	o := open(t, dir, durability)
	defer closed(t, o)
	write(t, o, 0)
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(50 * time.Millisecond) {
		marks, _, err := recovery.ReadMarks(filepath.Join(dir, "high-water.json"))
		if err != nil {
			t.Fatal(err)
		}
		if marks.Streams["PODIUM_1"].Last == 20 {
			return copied(t, dir)
		}
	}
	t.Fatal("the marks do not say how far it goes")
	return ""
}

// TestSettingsTornInTheFirstLife: they are known from the first moment on.
func TestSettingsTornInTheFirstLife(t *testing.T) {
	t.Parallel()
	sound := firstLife(t, embedded.Interval)
	for name, tear := range map[string]func(folder string) error{
		"empty": func(f string) error { return os.Truncate(filepath.Join(f, "meta.inf"), 0) },
		"empty, both": func(f string) error {
			return errors.Join(os.Truncate(filepath.Join(f, "meta.sum"), 0), os.Truncate(filepath.Join(f, "meta.inf"), 0))
		},
	} {
		for _, stream := range []string{"PODIUM_1", "KV_PODIUM_MAILBOXES"} {
			t.Run(name+" "+stream, func(t *testing.T) {
				t.Parallel()
				dir := copied(t, sound)
				if err := tear(filepath.Join(dir, streamsFolder, stream)); err != nil {
					t.Fatal(err)
				}
				if err := starts(t, dir, embedded.Interval); err != nil {
					t.Errorf("start: %v", err)
				}
			})
		}
	}
}

// TestFirstShardIsLost: the others know how many there are.
func TestFirstShardIsLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func(shards int) (*embedded.Server, *jetstream.Core) {
		s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Agents: []string{"alpha"}, Shards: shards, Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Core(t.Context())
		if err != nil {
			_ = s.Close()
			t.Fatal(err)
		}
		return s, c
	}
	s, c := start(3)
	for i := range 3 {
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: fmt.Sprintf("podium.in.chat.%d", i), Body: []byte("{}")}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, streamsFolder, "PODIUM_0")); err != nil {
		t.Fatal(err)
	}
	if losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()}); err != nil || len(losses) != 1 {
		t.Fatal(losses, err)
	}
	s, c = start(0)
	if c.Shards() != 3 {
		t.Errorf("the ledger of 3 shards has %d now", c.Shards())
	}
	c.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTornMessageThatHoldsARecord: a process ended in the midst of a message whose body holds a
// record of a later sequence. Nobody was told of the message, and the record is none.
func TestTornMessageThatHoldsARecord(t *testing.T) {
	t.Parallel()
	for stream, subject := range map[string]string{"PODIUM_1": "podium.session.1.0b7e7b1e-0001", bus.WorkStream: bus.RequestSubject("alpha")} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			dir := crashed(t, embedded.Fsync, 0, 0)
			forged := record(stream, 1, 1<<40, subject, []byte(`{"forged":1}`))
			whole := record(stream, 1, 41, "podium.in.chat.1", bytes.Join([][]byte{bytes.Repeat([]byte("a"), 100), forged, bytes.Repeat([]byte("b"), 1000)}, nil))
			if err := addTo(filestore.BlockFile(filepath.Join(dir, streamsFolder, stream), 1), whole[:len(whole)-200]); err != nil {
				t.Fatal(err)
			}
			if found := said(t, dir); len(found) > 0 {
				t.Errorf("lost is %q", found)
			}
			o := open(t, dir, embedded.Fsync)
			defer closed(t, o)
			for message, err := range o.core.Scan(t.Context(), stream, 1) {
				if err != nil || bytes.Equal(message.Body, []byte(`{"forged":1}`)) {
					t.Errorf("message %d on %s is %s, %v", message.Sequence, message.Subject, message.Body, err)
				}
			}
		})
	}
}

// TestFlippedMarksAreSaid: one flipped bit in the marks is said of the marks, and not of the
// ledger.
func TestFlippedMarksAreSaid(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Fsync, 0)
	file := filepath.Join(dir, "high-water.json")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 3)) //nolint:gosec // a seed repeats it
	for at := 0; at < len(content); at += 1 + random.IntN(100) {
		flipped := bytes.Clone(content)
		flipped[at] ^= 1 << random.IntN(8)
		if err := os.WriteFile(file, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := recovery.ReadMarks(file); err == nil || !strings.Contains(err.Error(), "high-water marks") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// TestRepairOfABucketIsRemembered: what a bucket has lost leaves no trace in it.
func TestRepairOfABucketIsRemembered(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Fsync, 0)
	file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "KV_PODIUM_MAILBOXES"), 1)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 7 // three bits, which nobody flips back
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	found, known, err := embedded.Check(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err != nil || len(found) != 1 || len(known) != 0 {
		t.Fatal(found, known, err)
	}
	losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
	if err != nil || len(losses) != 1 || losses[0].Restored {
		t.Fatal(losses, err)
	}
	marks, _, err := recovery.ReadMarks(filepath.Join(dir, "high-water.json"))
	if err != nil || len(marks.Losses) != 1 || !marks.Losses[0].Accepted || marks.Losses[0].Kept == "" {
		t.Errorf("noted is %+v, %v", marks.Losses, err)
	}
}
