package embedded_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/embedded"
)

// TestAskersAreApart: an agent that asks without end and whose questions take for
// ever holds up nobody else, and is told that it asks too much.
func TestAskersAreApart(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{External: []string{"alpha", "beta"}})
	c := core(t, server)
	release := make(chan struct{})
	var underWay, most atomic.Int64
	stop, err := c.Serve(bus.ServiceSubject("*", bus.ServiceAlive), func(_ context.Context, subject string, _ []byte) ([]byte, error) {
		if strings.Contains(subject, "alpha") {
			most.Store(max(most.Load(), underWay.Add(1)))
			<-release
			underWay.Add(-1)
		}
		return []byte("well"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	alpha := intrude(t, server)
	inbox := alpha.NewInbox()
	answers, err := alpha.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	const count = 1000
	for range count {
		if err := alpha.PublishRequest(bus.ServiceSubject("alpha", bus.ServiceAlive), inbox, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := alpha.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if answer, err := connectWorker(t, server, "beta").Ask(ctx, bus.ServiceAlive, nil); err != nil || string(answer) != "well" {
		t.Errorf("beta asks beside a flood: %q, %v", answer, err)
	}
	w := connectWorker(t, server, "alpha")
	for { // until alpha's queue is full
		asking, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := w.Ask(asking, bus.ServiceAlive, nil)
		cancel()
		if !bus.Temporary(err) {
			t.Fatalf("alpha asks once more: %v, want a temporary error", err)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	close(release)
	busy := 0
	for range count {
		answer, err := answers.NextMsg(patience)
		if err != nil {
			t.Fatalf("a question of alpha had no answer: %v", err)
		}
		if answer.Header.Get("Nats-Service-Error-Code") == "503" {
			busy++
		}
	}
	if busy < count/2 || busy == count {
		t.Errorf("%d of %d questions were refused", busy, count)
	}
	if most.Load() > 8 {
		t.Errorf("%d questions of one agent were under way at a time", most.Load())
	}
}
