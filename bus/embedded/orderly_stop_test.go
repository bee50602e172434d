package embedded_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded/serverprocess"
	"podium/bus/jetstream"
)

// TestStoppedWorkerTakesNothing stops workers in order at each server of a cluster while they wait for requests. The next
// request is handed to another worker at once: no pull of a stopped worker takes it for the length of an ack-wait.
func TestStoppedWorkerTakesNothing(t *testing.T) {
	t.Parallel()
	nodes := serverprocess.StartCluster(t, 3, serverprocess.Config{Agents: []string{"alpha"}})
	c := connectToCluster(t, nodes)
	if err := c.Declare(t.Context(), "alpha", bus.Pool{Size: 1, AckWait: 15 * time.Second}); err != nil {
		t.Fatal(err)
	}
	for round := range 2 * len(nodes) {
		stopped, other := processWorker(t, nodes[round%3], "alpha"), processWorker(t, nodes[(round+1)%3], "alpha")
		short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if _, err := stopped.Fetch(short, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a fetch of nothing: %v", err)
		}
		stop()
		stopped.Close()
		if _, err := bus.Append(t.Context(), c, bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte(strconv.Itoa(round))}, bus.Expect{}); err != nil {
			t.Fatal(err)
		}
		taken, err := other.Fetch(t.Context(), 1)
		if err != nil || string(taken[0].Message().Body) != strconv.Itoa(round) {
			t.Fatalf("round %d: %v, %v", round, taken, err)
		}
		if n := taken[0].Deliveries(); n != 1 {
			t.Errorf("round %d: it is delivery %d", round, n)
		}
		if err := taken[0].Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.Close()
	}
}

// connectToCluster connects once the cluster has elected its leaders.
func connectToCluster(t *testing.T, nodes []*serverprocess.Process) *jetstream.Core {
	t.Helper()
	for {
		c, err := jetstream.Connect(t.Context(), jetstream.Config{
			URL: serverprocess.URLs(nodes), SeedFile: nodes[0].Keys().Core.SeedFile, Shards: 1, Logger: zerolog.Nop(),
		})
		if err == nil {
			t.Cleanup(c.Close)
			return c
		}
		if !bus.Temporary(err) {
			t.Fatal(err)
		}
	}
}
