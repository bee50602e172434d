package memory_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"podium/bus"
	"podium/bus/bustest"
	"podium/bus/memory"
)

func TestCore(t *testing.T) {
	t.Parallel()
	bustest.TestCore(t, func(*testing.T) bustest.System {
		ledger := memory.New(2)
		return bustest.System{
			Core:   ledger,
			Worker: func(_ *testing.T, agent string) bus.Worker { return ledger.Worker(agent) },
		}
	})
}

func TestRedeliveryIsDrivenByTheInjectedClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ledger := memory.New(1, memory.WithClock(func() time.Time { return now }))
	if err := ledger.Declare(t.Context(), "echo", bus.Pool{Size: 2, AckWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		publish(t, ledger, bus.RequestSubject("echo"), n)
	}
	w := ledger.Worker("echo")
	take := func(n int, want ...string) []bus.Delivery {
		t.Helper()
		taken := w.TryFetch(n)
		var got []string
		for _, d := range taken {
			got = append(got, fmt.Sprint(string(d.Message().Body), "/", d.Deliveries()))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("at %v: %v, want %v", now, got, want)
		}
		return taken
	}
	first := take(5, "0/1", "1/1") // the pool is full
	take(5)
	now = now.Add(30 * time.Second)
	if err := first[1].InProgress(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Second)
	take(5, "0/2")
	now = now.Add(30 * time.Second)
	take(5, "1/2")
	if err := first[0].Ack(t.Context()); err != nil { // by whom it was taken away: the work is done all the same
		t.Fatal(err)
	}
	third := take(5, "2/1")
	if err := third[0].Nak(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	take(5)
	now = now.Add(10 * time.Second)
	take(5, "2/2")
}

func publish(t *testing.T, ledger *memory.Ledger, subject string, n int) {
	t.Helper()
	called := false
	ledger.Publish(bus.Message{Subject: subject, Body: []byte(strconv.Itoa(n))}, bus.Expect{}, func(_ bus.Ack, err error) {
		called = true
		if err != nil {
			t.Errorf("publish: %v", err)
		}
	})
	if !called {
		t.Error("Publish returned before its outcome")
	}
}

func TestFullMeansRefusedNeverForgotten(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1, memory.WithMaxBytes(10), memory.WithMaxMessage(8))
	body := func(n int) bus.Message { return bus.Message{Subject: bus.ControlSubject(0), Body: make([]byte, n)} }
	for _, c := range []struct {
		size int
		want error
	}{{9, bus.ErrTooLarge}, {8, nil}, {3, bus.ErrFull}, {2, nil}, {1, bus.ErrFull}} {
		if _, err := bus.Append(t.Context(), ledger, body(c.size), bus.Expect{}); !errors.Is(err, c.want) {
			t.Errorf("%d bytes: %v, want %v", c.size, err, c.want)
		}
	}
	if state, err := ledger.State(t.Context(), bus.ShardStream(0)); err != nil || state.Messages != 2 || state.Bytes != 10 || state.MaxBytes != 10 {
		t.Errorf("state %+v, %v", state, err)
	}
}

func TestWhatWasPublishedIsOutOfTheCallersHands(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	m := bus.Message{Subject: bus.ControlSubject(0), Header: bus.Header{"ce-id": {"1"}}, Body: []byte("1")}
	if _, err := bus.Append(t.Context(), ledger, m, bus.Expect{}); err != nil {
		t.Fatal(err)
	}
	m.Body[0], m.Header["ce-id"][0] = '2', "2"
	m.Header["ce-x"] = []string{"x"}
	got, err := ledger.Get(t.Context(), bus.ShardStream(0), 1)
	if err != nil || string(got.Body) != "1" || len(got.Header) != 1 || got.Header["ce-id"][0] != "1" {
		t.Errorf("stored %+v, %v", got, err)
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	if _, _, err := ledger.KeyValue("OTHER").Get(t.Context(), "k"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a bucket that is not there: %v", err)
	}
	if _, err := ledger.Read(t.Context(), "OTHER", 1); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a stream that is not there: %v", err)
	}
	if _, err := ledger.Worker("nobody").Fetch(t.Context(), 1); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a queue that is not declared: %v", err)
	}
	for _, pool := range []bus.Pool{{}, {Size: 1}, {AckWait: time.Second}} {
		if err := ledger.Declare(t.Context(), "echo", pool); err == nil {
			t.Errorf("pool %+v was taken", pool)
		}
	}
	if err := ledger.Declare(t.Context(), "a.b", bus.Pool{Size: 1, AckWait: time.Second}); err == nil {
		t.Error("an agent that is two tokens was taken")
	}
}

func TestAClosedWorkerHearsNothing(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	open, closed := ledger.Worker("echo"), ledger.Worker("echo")
	closed.Close()
	for range 1000 { // more than anyone hears: a signal never blocks
		if err := ledger.Signal(bus.ServiceSubject("echo", bus.SignalCancel), []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	if len(open.Cancelled()) == 0 || len(closed.Cancelled()) != 0 {
		t.Errorf("%d and %d hints", len(open.Cancelled()), len(closed.Cancelled()))
	}
}

func BenchmarkAppend(b *testing.B) {
	ledger := memory.New(1)
	m := bus.Message{Subject: bus.ControlSubject(0), Header: bus.Header{"ce-id": {"1"}}, Body: make([]byte, 256)}
	b.ReportAllocs()
	for b.Loop() {
		ledger.Publish(m, bus.Expect{}, func(bus.Ack, error) {})
	}
}
