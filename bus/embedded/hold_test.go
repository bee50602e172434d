package embedded_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream/worker"
)

// TestHoldRefusesAllThatIsStored: what is held is refused at once, for an agent of the
// same process, too; reading goes on, and so does everything when the hold ends.
func TestHoldRefusesAllThatIsStored(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{Agents: []string{"alpha"}})
	c := core(t, server)
	w, err := worker.Connect(t.Context(), worker.Config{
		URL: server.URL(), SeedFile: server.Keys().Agents["alpha"].SeedFile, Agent: "alpha", Core: c, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	stores := map[string]func() error{
		"append": func() error {
			_, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0)}, bus.Expect{})
			return err
		},
		"put":    func() error { _, err := c.KeyValue(bus.AgentBucket).Put(t.Context(), "alpha", nil); return err },
		"update": func() error { _, err := c.KeyValue(bus.AgentBucket).Update(t.Context(), "beta", nil, 0); return err },
		"delete": func() error { return c.KeyValue(bus.AgentBucket).Delete(t.Context(), "beta") },
		"artifact": func() error {
			_, err := c.Artifacts().Put(t.Context(), bytes.NewReader([]byte("an artifact")), "text/plain")
			return err
		},
		"worker": func() error {
			_, err := w.Publish(t.Context(), bus.Message{Subject: bus.ResponseSubject("alpha", 0)})
			return err
		},
	}
	c.Hold(bus.ErrFull)
	if !errors.Is(c.Held(), bus.ErrFull) {
		t.Errorf("it holds %v", c.Held())
	}
	for what, store := range stores {
		if err := store(); !errors.Is(err, bus.ErrFull) || bus.Temporary(err) {
			t.Errorf("%s while it is held: %v", what, err)
		}
	}
	if state, err := c.State(t.Context(), bus.ShardStream(0)); err != nil || state.Last != 0 {
		t.Errorf("the stream holds %d messages, %v", state.Messages, err)
	}
	c.Hold(nil)
	for _, what := range []string{"append", "put", "update", "delete", "artifact", "worker"} {
		if err := stores[what](); err != nil {
			t.Errorf("%s afterwards: %v", what, err)
		}
	}
}

// TestDiskIsKnown: the state of a stream says what the disk of the ledger has.
func TestDiskIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := core(t, start(t, embedded.Config{Dir: dir}))
	if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.ControlSubject(0), Body: make([]byte, 1<<20)}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	state, err := c.State(t.Context(), bus.ShardStream(0))
	if err != nil {
		t.Fatal(err)
	}
	free, err := embedded.Free(dir)()
	if err != nil || !state.Disk.Known || state.Disk.Used < 1<<20 || state.Disk.Free < free/2 || state.Disk.Free > 2*free {
		t.Errorf("the disk has %+v, and %d bytes are free, %v", state.Disk, free, err)
	}
	if _, err := embedded.Free(dir + "-of-nobody")(); err == nil {
		t.Error("a directory that is not there has room")
	}
}
