package recovery_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/filestore"
	"podium/bus/embedded/recovery"
)

// said returns what a ledger at rest says it has lost.
func said(t *testing.T, dir string) (said []string) {
	t.Helper()
	for _, loss := range lost(t, dir) {
		said = append(said, loss.String())
	}
	return said
}

// starts tries to start a server on a ledger, and stops it.
func starts(t *testing.T, dir string, durability embedded.Durability) error {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Durability: durability, Agents: []string{"alpha"}, Shards: 2, Logger: zerolog.Nop()})
	if err != nil {
		return err
	}
	return server.Close()
}

// TestSecondLossIsSaid: a stream that was lost once, and gone on without, is lost again, with
// other messages of the same sequences.
func TestSecondLossIsSaid(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(stream string) error{
		"the stream again": os.RemoveAll,
		"a middle block":   func(stream string) error { return os.Remove(filestore.BlockFile(stream, 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, embedded.Fsync, 12)
			stream := filepath.Join(dir, streamsFolder, "PODIUM_1")
			if err := os.RemoveAll(stream); err != nil {
				t.Fatal(err)
			}
			if _, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()}); err != nil {
				t.Fatal(err)
			}
			o := open(t, dir, embedded.Fsync)
			write(t, o, 12) // as many messages anew, acknowledged
			closed(t, o)
			if err := harm(stream); err != nil {
				t.Fatal(err)
			}
			if found := said(t, dir); len(found) == 0 {
				t.Error("ledger check says nothing of the second loss")
			}
			if err := starts(t, dir, embedded.Fsync); err == nil {
				t.Error("the start goes over the second loss in silence")
			}
		})
	}
}

// TestLossBehindAPowerCutIsSaid: a message is lost whose sequence was lost before, with the power.
func TestLossBehindAPowerCutIsSaid(t *testing.T) {
	t.Parallel()
	dir := crashed(t, embedded.Interval, 0, 12)
	stream := filepath.Join(dir, streamsFolder, "PODIUM_1")
	if err := filestore.CutBehind(stream, 2, 48); err != nil {
		t.Fatal(err)
	}
	o := open(t, dir, embedded.Interval) // goes back to 47, and remembers 48 to 52
	for range 12 {
		if _, err := bus.Append(t.Context(), o.core, bus.Message{Subject: "podium.in.chat.1", Body: []byte(`{"new":1}`)}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, o)
	file := filestore.BlockFile(stream, 2)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// cut message 49 out of the file: the record with that sequence
	var out []byte
	for at := 0; at < len(content); {
		size := int(binary.LittleEndian.Uint32(content[at:]) &^ (1 << 31))
		if binary.LittleEndian.Uint64(content[at+4:]) != 49 {
			out = append(out, content[at:at+size]...)
		}
		at += size
	}
	if len(out) == len(content) {
		t.Fatal("49 is not there")
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := said(t, dir); len(found) == 0 {
		t.Error("ledger check says nothing")
	}
	if err := starts(t, dir, embedded.Interval); err == nil {
		t.Error("the start says nothing")
	}
}

// TestFlipAfterAKillIsRestored: one bit flips in what was written since the last marks, and the
// process is killed. It costs nothing.
func TestFlipAfterAKillIsRestored(t *testing.T) {
	t.Parallel()
	for _, durability := range []embedded.Durability{embedded.Interval, embedded.Fsync} {
		t.Run(string(durability), func(t *testing.T) {
			t.Parallel()
			dir := crashed(t, durability, 0, 0)
			file := filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 1)
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)*6/10] ^= 4 // of 40 messages, in what came after the last mark
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if len(said(t, dir)) == 0 {
				t.Error("the check says nothing")
			}
			o := open(t, dir, durability)
			defer closed(t, o)
			state, err := o.core.State(t.Context(), bus.ShardStream(1))
			if err != nil || state.Messages != 40 || len(o.Losses()) != 1 || !o.Losses()[0].Restored {
				t.Errorf("%d of 40 messages are left, %v; losses %+v", state.Messages, err, o.Losses())
			}
		})
	}
}

// TestStoreOnAnotherDisk: the ledger's folder is a link.
func TestStoreOnAnotherDisk(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Interval, 0)
	elsewhere := filepath.Join(t.TempDir(), "big")
	if err := os.Rename(filepath.Join(dir, "ledger"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	if err := filestore.NewFlusher(filepath.Join(dir, "ledger")).All(); err != nil {
		t.Fatal(err)
	}
	if found := said(t, dir); len(found) > 0 {
		t.Error(found)
	}
	if err := starts(t, dir, embedded.Interval); err != nil {
		t.Error(err)
	}
}

// TestTailThatGoesWhileTheServerRuns: a stop in order does not make it forgotten.
func TestTailThatGoesWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(stream string) error{
		"the last block is gone":  func(s string) error { return os.Remove(filestore.BlockFile(s, 3)) },
		"the last block is empty": func(s string) error { return os.Truncate(filestore.BlockFile(s, 3), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, embedded.Fsync, 12) // it ends at message 32, in block 3, and marks say so
			o := open(t, dir, embedded.Fsync)
			if err := harm(filepath.Join(dir, streamsFolder, "PODIUM_1")); err != nil {
				t.Fatal(err)
			}
			o.end()
			if _, ok := errors.AsType[*recovery.LossError](o.Close()); !ok {
				t.Error("the stop says nothing")
			}
			if len(said(t, dir)) == 0 {
				t.Error("the check says nothing")
			}
			refused(t, dir)
		})
	}
}

// TestLossFoundByARestart: it is said by the next start, too.
func TestLossFoundByARestart(t *testing.T) {
	t.Parallel()
	dir := written(t, embedded.Fsync, 12)
	o := open(t, dir, embedded.Fsync)
	if err := os.Remove(filestore.BlockFile(filepath.Join(dir, streamsFolder, "PODIUM_1"), 3)); err != nil {
		t.Fatal(err)
	}
	err := o.Restart(t.Context())
	if err == nil {
		t.Error("the restart says nothing")
	}
	o.end()
	if err := o.Close(); err == nil {
		t.Error("the stop says nothing")
	}
	if found := said(t, dir); len(found) == 0 {
		t.Error("after the stop ledger check says nothing")
	}
	if err := starts(t, dir, embedded.Fsync); err == nil {
		t.Error("and the next start says nothing")
	}
}
