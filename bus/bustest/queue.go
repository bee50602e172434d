package bustest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/bus"
)

// ackWait is short, so that redelivery is soon, and long against the jitter of
// a busy machine.
const ackWait = 2 * time.Second

func declare(t *testing.T, s System, agent string, size int) {
	t.Helper()
	if err := s.Core.Declare(deadline(t), agent, bus.Pool{Size: size, AckWait: ackWait}); err != nil {
		t.Fatalf("declare %s: %v", agent, err)
	}
}

func fetch(t *testing.T, w bus.Worker, n int) []bus.Delivery {
	t.Helper()
	deliveries, err := w.Fetch(deadline(t), n)
	if err != nil {
		t.Fatalf("fetch: %v", err)
	}
	if len(deliveries) < 1 || len(deliveries) > n {
		t.Fatalf("fetch of %d gave %d", n, len(deliveries))
	}
	return deliveries
}

func nothing(t *testing.T, w bus.Worker, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if deliveries, err := w.Fetch(ctx, 1); err == nil {
		t.Errorf("%q was handed out", deliveries[0].Message().Body)
	} else if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("fetch with nothing to give: %v, want the context's error", err)
	}
}

func ack(t *testing.T, d bus.Delivery) {
	t.Helper()
	if err := d.Ack(deadline(t)); err != nil {
		t.Errorf("ack: %v", err)
	}
}

func testQueue(t *testing.T, s System) {
	for i, test := range []struct {
		name string
		run  func(*testing.T, System, string)
	}{
		{"InOrderAndOnce", testQueueOrder},
		{"PoolBoundsAllWorkers_M31_M32", testPool},
		{"RedeliveryAfterAckWait", testRedelivery},
		{"InProgressKeeps", testInProgress},
		{"NakGivesBack", testNak},
		{"AgentsAreApart_G40", testApart},
		{"DeclareAgainChangesThePool", testDeclareAgain},
		{"RequestsWaitForTheirFirstWorker", testWaitingRequests},
		{"WhoWaitsIsKnown", testPoolState},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s, "queue"+strconv.Itoa(i))
		})
	}
}

func testQueueOrder(t *testing.T, s System, agent string) {
	declare(t, s, agent, 100)
	w := s.Worker(t, agent)
	if w.Name() != agent {
		t.Errorf("the worker of %s is called %s", agent, w.Name())
	}
	for i := range 20 {
		mustAppend(t, s.Core, bus.RequestSubject(agent), strconv.Itoa(i))
	}
	var got []string
	for len(got) < 20 {
		for _, d := range fetch(t, w, 7) {
			if d.Deliveries() != 1 || d.Message().Subject != bus.RequestSubject(agent) {
				t.Errorf("delivery %d of %s", d.Deliveries(), d.Message().Subject)
			}
			got = append(got, string(d.Message().Body))
			ack(t, d)
		}
	}
	if !slices.Equal(got, numbers(0, 20)) {
		t.Errorf("order %v", got)
	}
	nothing(t, w, ackWait*3/2)
}

func testPool(t *testing.T, s System, agent string) {
	const size, requests = 3, 30
	declare(t, s, agent, size)
	for i := range requests {
		mustAppend(t, s.Core, bus.RequestSubject(agent), strconv.Itoa(i))
	}
	var held, most, done atomic.Int32
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	var workers sync.WaitGroup
	for range 2 {
		w := s.Worker(t, agent)
		workers.Go(func() {
			for {
				deliveries, err := w.Fetch(ctx, 2)
				if err != nil {
					return
				}
				now := held.Add(int32(len(deliveries))) //nolint:gosec // at most two
				for most.Load() < now && !most.CompareAndSwap(most.Load(), now) {
					continue
				}
				for _, d := range deliveries {
					held.Add(-1) // before the ack, after which another may be handed out
					if err := d.Ack(ctx); err != nil && ctx.Err() == nil {
						t.Errorf("ack: %v", err)
					}
					if done.Add(1) == requests {
						cancel()
					}
				}
			}
		})
	}
	workers.Wait()
	if done.Load() != requests || most.Load() > size {
		t.Errorf("%d of %d done, %d held at once by a pool of %d", done.Load(), requests, most.Load(), size)
	}
}

func testRedelivery(t *testing.T, s System, agent string) {
	declare(t, s, agent, 1)
	first, second := s.Worker(t, agent), s.Worker(t, agent)
	mustAppend(t, s.Core, bus.RequestSubject(agent), "lost")
	mustAppend(t, s.Core, bus.RequestSubject(agent), "behind it")
	start := time.Now()
	fetch(t, first, 1) // and never heard of again
	again := fetch(t, second, 1)[0]
	if string(again.Message().Body) != "lost" || again.Deliveries() != 2 {
		t.Errorf("%q came as delivery %d", again.Message().Body, again.Deliveries())
	}
	if waited := time.Since(start); waited < ackWait*9/10 {
		t.Errorf("handed out again after %v, the ack-wait is %v", waited, ackWait)
	}
	ack(t, again)
	if next := fetch(t, second, 1)[0]; string(next.Message().Body) != "behind it" {
		t.Errorf("after the ack came %q", next.Message().Body)
	} else {
		ack(t, next)
	}
}

func testInProgress(t *testing.T, s System, agent string) {
	declare(t, s, agent, 2)
	w, other := s.Worker(t, agent), s.Worker(t, agent)
	mustAppend(t, s.Core, bus.RequestSubject(agent), "long")
	d := fetch(t, w, 1)[0]
	for range 8 {
		nothing(t, other, ackWait/3)
		if err := d.InProgress(); err != nil {
			t.Errorf("in progress: %v", err)
		}
	}
	ack(t, d)
	nothing(t, other, ackWait*3/2)
}

func testNak(t *testing.T, s System, agent string) {
	declare(t, s, agent, 1)
	w := s.Worker(t, agent)
	mustAppend(t, s.Core, bus.RequestSubject(agent), "returned")
	for delivery, wait := range []time.Duration{0, ackWait / 4} {
		d := fetch(t, w, 1)[0]
		if d.Deliveries() != delivery+1 {
			t.Errorf("delivery %d, want %d", d.Deliveries(), delivery+1)
		}
		if err := d.Nak(wait); err != nil {
			t.Errorf("nak: %v", err)
		}
	}
	nothing(t, w, ackWait/8)
	ack(t, fetch(t, w, 1)[0])
}

func testApart(t *testing.T, s System, agent string) {
	other := agent + "-other"
	declare(t, s, agent, 1)
	declare(t, s, other, 1)
	mustAppend(t, s.Core, bus.RequestSubject(other), "not yours")
	nothing(t, s.Worker(t, agent), ackWait/4)
	d := fetch(t, s.Worker(t, other), 1)[0]
	ack(t, d)
}

func testDeclareAgain(t *testing.T, s System, agent string) {
	declare(t, s, agent, 1)
	w := s.Worker(t, agent)
	for i := range 3 {
		mustAppend(t, s.Core, bus.RequestSubject(agent), strconv.Itoa(i))
	}
	held := fetch(t, w, 3)
	if len(held) != 1 {
		t.Fatalf("a pool of 1 holds %d", len(held))
	}
	declare(t, s, agent, 3)
	for len(held) < 3 {
		held = append(held, fetch(t, w, 3-len(held))...)
	}
	for _, d := range held {
		ack(t, d)
	}
}

func testWaitingRequests(t *testing.T, s System, agent string) {
	mustAppend(t, s.Core, bus.RequestSubject(agent), "early")
	declare(t, s, agent, 1)
	w := s.Worker(t, agent)
	d := fetch(t, w, 1)[0]
	if string(d.Message().Body) != "early" {
		t.Errorf("got %q", d.Message().Body)
	}
	ack(t, d)
}
