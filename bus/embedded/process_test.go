package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/embedded"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/schemas"
)

func processCore(t *testing.T, process *serverprocess.Process) *jetstream.Core {
	t.Helper()
	return connectCore(t, process, false)
}

func connectCore(t *testing.T, process *serverprocess.Process, groupCommit bool) *jetstream.Core {
	t.Helper()
	c, err := jetstream.Connect(t.Context(), jetstream.Config{
		URL: process.URL(), SeedFile: process.Keys().Core.SeedFile, Shards: 2, GroupCommit: groupCommit, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func processWorker(t *testing.T, process *serverprocess.Process, agent string) *worker.Worker {
	t.Helper()
	w, err := worker.Connect(t.Context(), worker.Config{
		URL: process.URL(), SeedFile: process.Keys().Agents[agent].SeedFile, Agent: agent, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatalf("connect %s: %v", agent, err)
	}
	t.Cleanup(w.Close)
	return w
}

func TestConformanceOnAProcess(t *testing.T) {
	t.Parallel()
	bustest.TestCore(t, func(t *testing.T) bustest.System {
		t.Helper()
		process := serverprocess.Start(t, serverprocess.Config{Agents: agents()})
		return bustest.System{
			Core: processCore(t, process),
			Worker: func(t *testing.T, agent string) bus.Worker {
				t.Helper()
				return processWorker(t, process, agent)
			},
		}
	})
}

// A chain appends one record after the other to one session, each expecting the
// last, and resolves a doubtful outcome as the shell does: it reads again.
type chain struct {
	core    *jetstream.Core
	subject string
	last    uint64
	acked   []string
}

func (c *chain) append(ctx context.Context, body string) error {
	for {
		message := bus.Message{Subject: c.subject, Body: []byte(body)}
		acknowledged, err := bus.Append(ctx, c.core, message, bus.ExpectLast(c.last))
		switch {
		case err == nil:
			c.last = acknowledged.Sequence
			c.acked = append(c.acked, body)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !bus.Temporary(err) && !errors.Is(err, bus.ErrConflict):
			return err
		}
		newest, err := c.core.Last(ctx, c.subject)
		switch {
		case err == nil && newest.Sequence > c.last && string(newest.Body) == body:
			c.last = newest.Sequence // the doubtful append had succeeded
			c.acked = append(c.acked, body)
			return nil
		case err == nil && newest.Sequence != c.last:
			return errors.New("the session's last record is another one")
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestKilledServer kills the server while messages flow, by themselves and in
// batches: every acknowledged message is there afterwards, once and in order, and
// a reader that was open all the time has seen each exactly once.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	t.Run("OneByOne", func(t *testing.T) {
		t.Parallel()
		testKilledServer(t, 8, 150, false)
	})
	t.Run("Together", func(t *testing.T) {
		t.Parallel()
		testKilledServer(t, 100, 30, true)
	})
}

func testKilledServer(t *testing.T, sessions, records int, groupCommit bool) {
	t.Helper()
	const kills = 4
	process := serverprocess.Start(t, serverprocess.Config{})
	c := connectCore(t, process, groupCommit)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	reader, err := c.Read(ctx, bus.ShardStream(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)

	progress := make(chan struct{}, sessions*records)
	chains := make([]*chain, sessions)
	var writers sync.WaitGroup
	for i := range chains {
		chains[i] = &chain{core: c, subject: bus.SessionSubject(sessionOn(i), 2)}
		writers.Go(func() {
			for n := range records {
				if err := chains[i].append(ctx, strconv.Itoa(n)); err != nil {
					t.Errorf("session %d, record %d: %v", i, n, err)
					return
				}
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range sessions * records / (kills + 1) {
			select {
			case <-progress:
			case <-ctx.Done():
				t.Fatal("the writers have stopped")
			}
		}
		process.Kill()
		process.Restart()
	}
	writers.Wait()

	for i, chain := range chains {
		if len(chain.acked) != records {
			t.Errorf("session %d: %d of %d acknowledged", i, len(chain.acked), records)
		}
	}
	checkRead(ctx, t, c, reader, chains)
}

// checkRead compares what a reader saw with what the stream holds, and that with
// what was acknowledged.
func checkRead(ctx context.Context, t *testing.T, c *jetstream.Core, reader bus.Reader, chains []*chain) {
	t.Helper()
	held := map[string][]string{}
	for stored, err := range c.Scan(ctx, bus.ShardStream(0), 1) {
		if err != nil {
			t.Fatal(err)
		}
		read, err := bus.Next(ctx, reader)
		if err != nil {
			t.Fatalf("the reader at %d: %v", stored.Sequence, err)
		}
		if read.Sequence != stored.Sequence || read.Subject != stored.Subject || string(read.Body) != string(stored.Body) {
			t.Fatalf("the reader saw %d %q where %d %q stands", read.Sequence, read.Body, stored.Sequence, stored.Body)
		}
		held[stored.Subject] = append(held[stored.Subject], string(stored.Body))
	}
	for i, chain := range chains {
		got := held[chain.subject]
		if len(got) != len(chain.acked) {
			t.Errorf("session %d holds %d records, %d were acknowledged", i, len(got), len(chain.acked))
			continue
		}
		for n, body := range got {
			if body != strconv.Itoa(n) {
				t.Errorf("session %d: record %d is %q", i, n, body)
				break
			}
		}
	}
}

// sessionOn returns the n-th session that belongs to the first of two shards.
func sessionOn(n int) string {
	for i := 0; ; i++ {
		if id := schemas.SessionID("test", strconv.Itoa(i)); schemas.ShardOf(id, 2) == 0 {
			if n--; n < 0 {
				return id
			}
		}
	}
}

// TestWorkerOverRestart: a worker that waits, and a request in its hands, both
// outlive the server.
func TestWorkerOverRestart(t *testing.T) {
	t.Parallel()
	process := serverprocess.Start(t, serverprocess.Config{Agents: []string{"alpha"}})
	c := processCore(t, process)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Declare(ctx, "alpha", bus.Pool{Size: 2, AckWait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	publish := func(body string) {
		t.Helper()
		for {
			_, err := bus.Append(ctx, c, bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte(body)}, bus.Expect{})
			if err == nil {
				return
			}
			if !bus.Temporary(err) || ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	w := processWorker(t, process, "alpha")
	publish("held")
	held, err := w.Fetch(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		for { // what was handed out just before the crash may come again: the server notes that late
			deliveries, err := w.Fetch(ctx, 1)
			if err == nil && string(deliveries[0].Message().Body) == "held" && deliveries[0].Deliveries() <= 2 {
				err = deliveries[0].InProgress()
				if err == nil {
					continue
				}
			}
			if err == nil && string(deliveries[0].Message().Body) != "after" {
				err = errors.New("an unknown request came")
			}
			if err == nil {
				err = deliveries[0].Ack(ctx)
			}
			answered <- err
			return
		}
	}()
	process.Kill()
	process.Restart()
	publish("after")
	if err := <-answered; err != nil {
		t.Fatalf("the worker that waited over the restart: %v", err)
	}
	if err := held[0].Ack(ctx); err != nil {
		t.Errorf("ack of what was held over the restart: %v", err)
	}
}

// TestLostLedgerIsSaid: a reader does not go on silently on a ledger that lost
// what it has read.
func TestLostLedgerIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	process := serverprocess.Start(t, serverprocess.Config{Dir: dir, Durability: embedded.Interval})
	c := processCore(t, process)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reader, err := c.Read(ctx, bus.ShardStream(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	for range 3 {
		if _, err := bus.Append(ctx, c, bus.Message{Subject: bus.ControlSubject(0)}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
		if _, err := bus.Next(ctx, reader); err != nil {
			t.Fatal(err)
		}
	}
	process.Kill()
	if err := os.RemoveAll(filepath.Join(dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	process.Restart()
	again := processCore(t, process) // makes a new ledger
	if _, err := bus.Append(ctx, again, bus.Message{Subject: bus.ControlSubject(0)}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	m, err := bus.Next(ctx, reader)
	if err == nil || ctx.Err() != nil || bus.Temporary(err) {
		t.Errorf("the reader gave %d, %v; want a final error", m.Sequence, err)
	}
}
