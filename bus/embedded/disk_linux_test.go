package embedded_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/bustest/smalldisk"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
)

// TestServerThatMetAFullDiskStartsAgain: a server that had no room for a message
// answers no more. It says so, what waits for it is ended, and when there is room it is
// started again under those who are connected, with all that it has acknowledged.
func TestServerThatMetAFullDiskStartsAgain(t *testing.T) {
	t.Parallel()
	for name, durability := range map[string]embedded.Durability{smalldisk.TmpFS: embedded.Fsync, smalldisk.Ext4: embedded.Interval} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := smalldisk.Mount(t, name, 48<<20)
			server := start(t, embedded.Config{Dir: filepath.Join(disk.Path, "data"), Durability: durability, Agents: []string{"alpha"}})
			c, w := core(t, server), connectWorker(t, server, "alpha")
			reader, err := c.Read(t.Context(), bus.ShardStream(0), 1)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			acked := []uint64{must(t, c, "first")}
			if err := server.CheckWrites(); err != nil {
				t.Fatalf("before: %v", err)
			}
			disk.Fill(0)
			pending := publishUntilSilent(t, c, server, &acked)
			var failed *embedded.WriteError
			if err := server.CheckWrites(); !errors.As(err, &failed) || !failed.Full {
				t.Fatalf("a server that has met a full disk: %v", err)
			}
			held := errors.New("held")
			c.Hold(held)
			c.Abandon()
			for range pending.count {
				if err := <-pending.ended; !bus.Temporary(err) && !errors.Is(err, held) {
					t.Errorf("what waited ended with %v", err)
				}
			}
			disk.Free()
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.Hold(nil)
			if err := server.CheckWrites(); err != nil {
				t.Errorf("after: %v", err)
			}
			acked = append(acked, mustSoon(t, c, "last"))
			for _, sequence := range acked {
				if _, err := c.Get(t.Context(), bus.ShardStream(0), sequence); err != nil {
					t.Errorf("message %d was acknowledged: %v", sequence, err)
				}
			}
			readTo(t, reader, acked[len(acked)-1])
			if err := c.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			askSoon(t, w)
		})
	}
}

// must appends a message to the first shard.
func must(t *testing.T, c *jetstream.Core, body string) uint64 {
	t.Helper()
	ack, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0), Body: []byte(body)}, bus.Expect{})
	if err != nil {
		t.Fatal(err)
	}
	return ack.Sequence
}

// mustSoon appends as soon as the connection is back.
func mustSoon(t *testing.T, c *jetstream.Core, body string) uint64 {
	t.Helper()
	for {
		ack, err := bus.Append(deadline(t), c, bus.Message{Subject: bus.ControlSubject(0), Body: []byte(body)}, bus.Expect{})
		if err == nil {
			return ack.Sequence
		}
		if !bus.Temporary(err) || backoff.Pause(t.Context(), 20*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A silence is appends without an outcome.
type silence struct {
	count int
	ended chan error
}

// publishUntilSilent appends until the server has given up a stream. It leaves the
// appends without an answer.
func publishUntilSilent(t *testing.T, c *jetstream.Core, server *embedded.Server, acked *[]uint64) *silence {
	t.Helper()
	const most = 100
	silent := &silence{ended: make(chan error, most)}
	var mu sync.Mutex
	for range most {
		done := make(chan struct{})
		c.Publish(bus.Message{Subject: bus.ControlSubject(0), Body: make([]byte, 64<<10)}, bus.Expect{}, func(ack bus.Ack, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				*acked = append(*acked, ack.Sequence)
				close(done)
				return
			}
			silent.ended <- err
		})
		select {
		case <-done:
		case <-time.After(time.Second):
			mu.Lock()
			defer mu.Unlock()
			silent.count++
			return silent
		}
	}
	t.Fatalf("%d messages fit onto a full disk", most)
	return nil
}

// readTo reads until a sequence has come.
func readTo(t *testing.T, reader bus.Reader, sequence uint64) {
	t.Helper()
	for at := uint64(0); at < sequence; {
		message, err := bus.Next(deadline(t), reader)
		if err != nil {
			t.Fatalf("read behind %d: %v", at, err)
		}
		at = message.Sequence
	}
}

// askSoon waits until an agent's connection is back as well.
func askSoon(t *testing.T, w *worker.Worker) {
	t.Helper()
	ctx := deadline(t)
	for {
		_, err := w.Publish(ctx, bus.Message{Subject: bus.ResponseSubject("alpha", 0), Body: []byte("{}")})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}
