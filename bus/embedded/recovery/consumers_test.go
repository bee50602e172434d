package recovery_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
)

// TestDamagedConsumer: one flipped bit in what says which requests an agent has taken. A check says it; a
// start and a repair restore it, so that the agent is handed out what it has not acknowledged, and
// nothing else.
func TestDamagedConsumer(t *testing.T) {
	t.Parallel()
	sound := t.TempDir()
	o := open(t, sound, embedded.Fsync)
	if err := o.core.Declare(t.Context(), "alpha", bus.Pool{Size: 1, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := bus.Append(t.Context(), o.core, bus.Message{Subject: bus.RequestSubject("alpha"), Body: fmt.Append(nil, i)}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	worker, err := o.Worker(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	take(t, worker, "0")
	take(t, worker, "1")
	worker.Close()
	closed(t, o)
	consumer := filepath.Join(streamsFolder, "PODIUM_WORK/obs/alpha")
	for name, harm := range map[string]func(file string) error{
		"a bit at the front":  flipAt(0),
		"a bit of the floor":  flipAt(2),
		"a bit behind":        flipAt(4),
		"a bit at the end":    flipAt(-1),
		"cut":                 func(file string) error { return os.Truncate(file, 3) },
		"empty":               func(file string) error { return os.Truncate(file, 0) },
		"gone":                os.Remove,
		"gone with the agent": func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
	} {
		for _, file := range []string{"o.dat", "meta.inf", "meta.sum"} {
			for _, repair := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/repair %t", file, name, repair), func(t *testing.T) {
					t.Parallel()
					dir := copied(t, sound)
					if err := harm(filepath.Join(dir, consumer, file)); err != nil {
						t.Fatal(err)
					}
					if losses := lost(t, dir); len(losses) != 1 || losses[0].Cause != recovery.Consumer {
						t.Errorf("a check says %v", losses)
					}
					if repair {
						losses, err := embedded.Repair(t.Context(), embedded.Config{Dir: dir, Logger: zerolog.Nop()})
						if err != nil || len(losses) != 1 || !losses[0].Restored {
							t.Fatalf("repaired: %v, %v", losses, err)
						}
						if losses := lost(t, dir); len(losses) > 0 {
							t.Errorf("after the repair a check says %v", losses)
						}
					}
					o := open(t, dir, embedded.Fsync)
					defer closed(t, o)
					worker, err := o.Worker(t.Context(), "alpha")
					if err != nil {
						t.Fatal(err)
					}
					defer worker.Close()
					take(t, worker, "2")
				})
			}
		}
	}
}

// take expects the next request of an agent, and acknowledges it.
func take(t *testing.T, worker bus.Worker, body string) {
	t.Helper()
	var deliveries []bus.Delivery
	for len(deliveries) == 0 {
		var err error
		if deliveries, err = worker.Fetch(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := deliveries[0].Message().Body; !bytes.Equal(got, []byte(body)) {
		t.Errorf("the agent is handed out %s, want %s", got, body)
	}
	if err := deliveries[0].Ack(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// flipAt flips one bit of a file; a negative place counts from its end.
func flipAt(at int) func(file string) error {
	return func(file string) error {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		content[(at+len(content))%len(content)] ^= 4
		return os.WriteFile(file, content, 0o600)
	}
}
