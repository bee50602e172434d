package embedded_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"podium/bus"
	"podium/bus/embedded"
)

// TestFullStoreIsSaidAtOnce: when the store takes no more in the middle of what
// is published at once, none of it waits long for an answer that does not come.
func TestFullStoreIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	c := core(t, start(t, embedded.Config{MaxBytes: 8 << 20}))
	of := func(i int) string { return bus.SessionSubject(sessionOn(i), 2) }
	const burst = 100
	full, stored := 0, 0
	n := 0
	for range 10 {
		var done sync.WaitGroup
		var mu sync.Mutex
		done.Add(burst)
		for range burst {
			n++
			c.Publish(bus.Message{Subject: of(n), Body: make([]byte, 20<<10)}, bus.Expect{}, func(_ bus.Ack, err error) {
				defer done.Done()
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, bus.ErrFull):
					full++
				case err == nil:
					stored++
				case !bus.Temporary(err):
					t.Error(err)
				}
			})
		}
		done.Wait()
		if full > 0 {
			break
		}
	}
	if full == 0 || stored == 0 {
		t.Errorf("%d stored, %d refused as full", stored, full)
	}
}

// TestNothingTakesTheRoomOfAnother: requests that nobody takes, and artifacts, fill what
// is theirs. Sessions, requests and values go on as if there were none of them.
func TestNothingTakesTheRoomOfAnother(t *testing.T) {
	t.Parallel()
	const room = 32 << 20
	c := core(t, start(t, embedded.Config{MaxBytes: room, Durability: embedded.Interval}))
	publish := func(what, subject string, size int) {
		t.Helper()
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: subject, Body: make([]byte, size)}, bus.Expect{}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for range 2 * room / (512 << 10) {
		publish("a request beside many that nobody takes", bus.RequestSubject("alpha"), 512<<10)
	}
	if state, err := c.State(t.Context(), bus.WorkStream); err != nil || state.Bytes > room/8 || state.Bytes < room/16 {
		t.Errorf("requests take %d bytes, %v", state.Bytes, err)
	}
	var full error
	stored := 0
	for i := 0; full == nil && stored < 2*room; i++ {
		content := bytes.Repeat([]byte(strconv.Itoa(i)+" "), (1<<20)/8)
		if _, full = c.Artifacts().Put(t.Context(), bytes.NewReader(content), "text/plain"); full == nil {
			stored += len(content)
		}
	}
	if !errors.Is(full, bus.ErrFull) || stored < room/4 || stored > room/2 {
		t.Errorf("after %d bytes of artifacts: %v", stored, full)
	}
	publish("a request beside many artifacts", bus.RequestSubject("alpha"), 512<<10)
	publish("a record beside many artifacts", bus.SessionSubject(sessionOn(0), 2), 512<<10)
	if _, err := c.KeyValue(bus.AgentBucket).Put(t.Context(), "alpha", []byte("here")); err != nil {
		t.Error(err)
	}
}

// TestArtifactWithoutRoomIsNotThere: one of which only the first pieces found room is
// stored as soon as there is some, and not taken for one that is there.
func TestArtifactWithoutRoomIsNotThere(t *testing.T) {
	t.Parallel()
	const room = 8 << 20
	dir := t.TempDir()
	server := start(t, embedded.Config{Dir: dir, MaxBytes: room, Durability: embedded.Interval})
	c := core(t, server)
	content := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%07d ", i), (200<<10)/8) }
	var refused []byte
	for i := 0; refused == nil; i++ {
		_, err := c.Artifacts().Put(t.Context(), bytes.NewReader(content(i)), "text/plain")
		if errors.Is(err, bus.ErrFull) {
			refused = content(i)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Artifacts().Put(t.Context(), bytes.NewReader(refused), "text/plain"); !errors.Is(err, bus.ErrFull) {
		t.Fatalf("the same once more: %v", err)
	}
	c.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	c = core(t, start(t, embedded.Config{Dir: dir, MaxBytes: 4 * room, Durability: embedded.Interval}))
	stored, err := c.Artifacts().Put(t.Context(), bytes.NewReader(refused), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Artifacts().Get(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(opened); err != nil || !bytes.Equal(got, refused) {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(refused), err)
	}
}

// TestLimitBelowWhatIsHeld: somebody gives the ledger less room than it has used. Requests that
// nobody takes give way, as they do at any limit; what sessions hold does not, and that is said.
func TestLimitBelowWhatIsHeld(t *testing.T) {
	t.Parallel()
	const room = 64 << 20
	for name, test := range map[string]struct{ subject, wants string }{
		"requests": {bus.RequestSubject("alpha"), ""},
		"sessions": {bus.SessionSubject(sessionOn(1), 2), "set that higher"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := start(t, embedded.Config{Dir: dir, MaxBytes: room, Durability: embedded.Interval})
			c := core(t, first)
			for range 12 {
				if _, err := bus.Append(t.Context(), c, bus.Message{Subject: test.subject, Body: make([]byte, 512<<10)}, bus.Expect{}); err != nil {
					t.Fatal(err)
				}
			}
			c.Close()
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			for _, less := range []int64{room / 8, room / 16} {
				server := start(t, embedded.Config{Dir: dir, MaxBytes: less, Durability: embedded.Interval})
				c, err := server.Core(t.Context())
				if test.wants == "" {
					if err != nil {
						t.Fatalf("%d bytes: %v", less, err)
					}
					if _, err = bus.Append(t.Context(), c, bus.Message{Subject: test.subject, Body: make([]byte, 100<<10)}, bus.Expect{}); err != nil {
						t.Errorf("%d bytes, the next request: %v", less, err)
					}
					c.Close()
				} else if err == nil || !strings.Contains(err.Error(), test.wants) || !strings.Contains(err.Error(), "ledger.max_bytes") {
					t.Errorf("%d bytes: %v", less, err)
				}
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
