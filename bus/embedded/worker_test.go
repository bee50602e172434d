package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/embedded"
)

// TestFetchLosesNothingInBetween: a Fetch that ends while a request is on its way
// to it does not keep it. The ack-wait is so long that a request that waited for
// it would fail the test.
func TestFetchLosesNothingInBetween(t *testing.T) {
	t.Parallel()
	const requests = 400
	server := start(t, embedded.Config{Durability: embedded.Interval})
	c := core(t, server)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Declare(ctx, "alpha", bus.Pool{Size: 100, AckWait: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for n := range requests {
			message := bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte(strconv.Itoa(n))}
			if _, err := bus.Append(ctx, c, message, bus.Expect{}); err != nil {
				t.Errorf("request %d: %v", n, err)
			}
		}
	})
	seen := map[string]bool{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	for i := range 2 {
		w := connectWorker(t, server, "alpha")
		workers.Go(func() {
			for n := 0; ; n++ {
				mu.Lock()
				done := len(seen) == requests
				mu.Unlock()
				if done || ctx.Err() != nil {
					return
				}
				short, stop := context.WithTimeout(ctx, time.Duration(n%7+1)*300*time.Microsecond)
				deliveries, err := w.Fetch(short, i+n%5+1)
				stop()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("fetch: %v", err)
					return
				}
				for _, d := range deliveries {
					if err := d.Ack(ctx); err != nil {
						t.Errorf("ack: %v", err)
					}
					mu.Lock()
					seen[string(d.Message().Body)] = true
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	publishing.Wait()
	if len(seen) != requests {
		t.Errorf("%d of %d requests came", len(seen), requests)
	}
}

// TestFetchBeforeDeclare: an agent may be there before the core knows it.
func TestFetchBeforeDeclare(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{})
	c := core(t, server)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := connectWorker(t, server, "alpha")
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	if _, err := w.Fetch(short, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("fetch without a durable gave %v", err)
	}
	fetched := make(chan error, 1)
	go func() {
		deliveries, err := w.Fetch(ctx, 1)
		if err == nil && string(deliveries[0].Message().Body) != "first" {
			err = fmt.Errorf("got %q", deliveries[0].Message().Body)
		}
		fetched <- err
	}()
	if err := c.Declare(ctx, "alpha", bus.Pool{Size: 1, AckWait: ackWait}); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Append(ctx, c, bus.Message{Subject: bus.RequestSubject("alpha"), Body: []byte("first")}, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	if err := <-fetched; err != nil {
		t.Error(err)
	}
}

func TestDeclareRefuses(t *testing.T) {
	t.Parallel()
	c := core(t, start(t, embedded.Config{}))
	for agent, pool := range map[string]bus.Pool{
		"a.b":  {Size: 1, AckWait: time.Second},
		"zero": {Size: 0, AckWait: time.Second},
		"wait": {Size: 1},
		"":     {Size: 1, AckWait: time.Second},
	} {
		if err := c.Declare(t.Context(), agent, pool); err == nil {
			t.Errorf("%q with %+v was declared", agent, pool)
		}
	}
}

// TestClosed: after Close everything says so, at once, and every publish still
// has its one outcome.
func TestClosed(t *testing.T) {
	t.Parallel()
	server := start(t, embedded.Config{})
	c, w := core(t, server), connectWorker(t, server, "alpha")
	reader, err := c.Read(t.Context(), bus.ShardStream(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	const count = 200
	var outcomes sync.WaitGroup
	outcomes.Add(count)
	publish := func(n int) {
		c.Publish(bus.Message{Subject: bus.ControlSubject(0), Body: []byte(strconv.Itoa(n))}, bus.Expect{}, func(_ bus.Ack, err error) {
			defer outcomes.Done()
			if err != nil && !errors.Is(err, bus.ErrClosed) {
				t.Errorf("publish %d: %v", n, err)
			}
		})
	}
	closed := make(chan struct{})
	for n := range count {
		if n == count/2 {
			go func() {
				defer close(closed)
				c.Close()
			}()
		}
		publish(n)
	}
	<-closed
	outcomes.Wait()
	for {
		_, ok, err := reader.Next()
		if ok {
			continue
		}
		if !errors.Is(err, bus.ErrClosed) {
			t.Errorf("the reader says %v, want ErrClosed", err)
		}
		break
	}
	if _, err := c.Read(t.Context(), bus.ShardStream(0), 1); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("read: %v, want ErrClosed", err)
	}
	if _, err := c.Last(t.Context(), bus.ControlSubject(0)); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("last: %v, want ErrClosed", err)
	}
	if _, err := c.Serve("podium.agent.*.alive", nil); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("serve: %v, want ErrClosed", err)
	}
	c.Close()

	waiting := make(chan error, 1)
	go func() {
		_, err := w.Fetch(context.Background(), 1)
		waiting <- err
	}()
	w.Close()
	if err := <-waiting; !errors.Is(err, bus.ErrClosed) {
		t.Errorf("fetch: %v, want ErrClosed", err)
	}
	if _, err := w.Publish(t.Context(), bus.Message{Subject: bus.ResponseSubject("alpha", 0)}); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("publish of a worker: %v, want ErrClosed", err)
	}
	w.Close()
}
