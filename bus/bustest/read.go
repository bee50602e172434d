package bustest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"podium/bus"
)

func mustRead(t *testing.T, core bus.Core, stream string, from uint64, subjects ...string) bus.Reader {
	t.Helper()
	r, err := core.Read(deadline(t), stream, from, subjects...)
	if err != nil {
		t.Fatalf("read %s: %v", stream, err)
	}
	t.Cleanup(r.Close)
	return r
}

func take(t *testing.T, r bus.Reader, n int) (bodies []string, last uint64) {
	t.Helper()
	ctx := deadline(t)
	for range n {
		m, err := bus.Next(ctx, r)
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(bodies), n, err)
		}
		if m.Sequence <= last {
			t.Fatalf("sequence %d after %d", m.Sequence, last)
		}
		last = m.Sequence
		bodies = append(bodies, string(m.Body))
	}
	return bodies, last
}

func numbers(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all
}

func testRead(t *testing.T, s System) {
	ctx := deadline(t)
	shard, stream := 0, bus.ShardStream(0)
	adapters := []string{bus.InSubject("a", shard), bus.InSubject("b", shard), bus.ControlSubject(shard)}
	var sequences []uint64
	for i := range 30 {
		sequences = append(sequences, mustAppend(t, s.Core, adapters[i%3], strconv.Itoa(i)).Sequence)
	}

	t.Run("InOrderThenWaits", func(t *testing.T) {
		r := mustRead(t, s.Core, stream, 1, adapters...)
		if got, _ := take(t, r, 30); !slices.Equal(got, numbers(0, 30)) {
			t.Errorf("read %v", got)
		}
		if m, ok, err := r.Next(); ok || err != nil {
			t.Errorf("at the end Next gave %q, %v, %v", m.Body, ok, err)
		}
	})
	t.Run("CarriesWhatWasWritten", func(t *testing.T) {
		start := time.Now()
		subject := subjectIn(s.Core, shard, "carried", 0)
		written := bus.Message{Subject: subject, Header: bus.Header{"ce-id": {"1"}, "ce-x": {"a%20b"}}, Body: []byte{0, 1, 255}}
		ack, err := bus.Append(ctx, s.Core, written, bus.Expect{})
		if err != nil {
			t.Fatal(err)
		}
		r := mustRead(t, s.Core, stream, ack.Sequence, subject)
		m, err := bus.Next(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, m, written, ack)
		if m.Recorded.Before(start.Add(-time.Minute)) || m.Recorded.After(time.Now().Add(time.Minute)) {
			t.Errorf("recorded at %v", m.Recorded)
		}
	})
	t.Run("ResumesFromAnySequence", func(t *testing.T) {
		for i, sequence := range sequences {
			r := mustRead(t, s.Core, stream, sequence, adapters...)
			if got, _ := take(t, r, 30-i); !slices.Equal(got, numbers(i, 30)) {
				t.Fatalf("from %d: read %v", sequence, got)
			}
			r.Close()
		}
	})
	t.Run("Filters", func(t *testing.T) {
		for _, c := range []struct {
			subjects []string
			want     int
		}{
			{[]string{adapters[1]}, 10},
			{adapters[:2], 20},
			{[]string{"podium.in.*.0"}, 20},
			{[]string{"podium.in.*.0", "podium.control.0"}, 30},
			{[]string{"podium.in.>"}, 20},
		} {
			r := mustRead(t, s.Core, stream, 1, c.subjects...)
			if got, _ := take(t, r, c.want); len(got) != c.want {
				t.Errorf("%v: read %v", c.subjects, got)
			}
			r.Close()
		}
		if r := mustRead(t, s.Core, stream, 1); true {
			take(t, r, 30)
		}
	})
	t.Run("WakesForLaterMessages", func(t *testing.T) {
		live := []string{bus.InSubject("live", shard)}
		r := mustRead(t, s.Core, stream, 1, live...)
		publishing := make(chan struct{})
		go func() {
			defer close(publishing)
			for i := range 50 {
				if _, err := bus.Append(ctx, s.Core, message(live[0], strconv.Itoa(i)), bus.Expect{}); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		}()
		if got, _ := take(t, r, 50); !slices.Equal(got, numbers(0, 50)) {
			t.Errorf("read %v", got)
		}
		<-publishing
	})
	t.Run("FromBeyondTheEnd", func(t *testing.T) {
		subject := bus.InSubject("beyond", shard)
		state, err := s.Core.State(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		r := mustRead(t, s.Core, stream, state.Last+1, subject)
		mustAppend(t, s.Core, subject, "after")
		if got, _ := take(t, r, 1); got[0] != "after" {
			t.Errorf("read %v", got)
		}
	})
	t.Run("CloseTwice", func(t *testing.T) {
		r := mustRead(t, s.Core, stream, 1)
		r.Close()
		r.Close()
	})
	t.Run("ScanEnds", func(t *testing.T) { testScan(t, s.Core, stream, adapters) })
}

func checkWritten(t *testing.T, m, written bus.Message, ack bus.Ack) {
	t.Helper()
	if m.Subject != written.Subject || string(m.Body) != string(written.Body) || m.Stream != ack.Stream || m.Sequence != ack.Sequence {
		t.Errorf("got %s %d %s %v; want %s %d", m.Stream, m.Sequence, m.Subject, m.Body, ack.Stream, ack.Sequence)
	}
	for name, values := range written.Header {
		if !slices.Equal(m.Header[name], values) {
			t.Errorf("header %s is %q, want %q", name, m.Header[name], values)
		}
	}
}

func testScan(t *testing.T, core bus.Core, stream string, adapters []string) {
	t.Helper()
	ctx := deadline(t)
	collect := func(from uint64, subjects ...string) (got []string) {
		for m, err := range core.Scan(ctx, stream, from, subjects...) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(m.Body))
		}
		return got
	}
	if got := collect(1, adapters...); !slices.Equal(got, numbers(0, 30)) {
		t.Errorf("scan gave %v", got)
	}
	if got := collect(1, bus.InSubject("nobody", 0)); len(got) != 0 {
		t.Errorf("scan of an empty subject gave %v", got)
	}
	state, err := core.State(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(state.Last + 1); len(got) != 0 {
		t.Errorf("scan beyond the end gave %v", got)
	}
	growing := bus.InSubject("growing", 0)
	mustAppend(t, core, growing, "old")
	seen := 0
	for _, err := range core.Scan(ctx, stream, 1, growing) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen > 1 {
			t.Fatal("a scan yields what came after it began")
		}
		mustAppend(t, core, growing, "new")
	}
	for _, err := range core.Scan(ctx, stream, 1, adapters...) {
		if err != nil {
			t.Fatal(err)
		}
		break // leaving early is allowed
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range core.Scan(ended, stream, 1, adapters...) {
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("scan with an ended context gave %v", err)
		}
		return
	}
	t.Error("scan with an ended context ended without an error")
}

func testLookup(t *testing.T, s System) {
	ctx := deadline(t)
	t.Run("EmptyStream", func(t *testing.T) {
		state, err := s.Core.State(ctx, bus.ShardStream(1))
		if err != nil || state.Last != 0 || state.Messages != 0 {
			t.Errorf("state %+v, %v", state, err)
		}
	})
	a, b := subjectIn(s.Core, 1, "lookup", 0), subjectIn(s.Core, 1, "lookup", 1)
	none := subjectIn(s.Core, 1, "lookup", 2)
	first := mustAppend(t, s.Core, a, "a1")
	mustAppend(t, s.Core, b, "b1")
	second := mustAppend(t, s.Core, a, "a2")

	t.Run("Get", func(t *testing.T) {
		m, err := s.Core.Get(ctx, bus.ShardStream(1), first.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, m, message(a, "a1"), first)
		for _, missing := range []uint64{0, second.Sequence + 1} {
			if _, err := s.Core.Get(ctx, bus.ShardStream(1), missing); !errors.Is(err, bus.ErrNotFound) {
				t.Errorf("get %d gave %v, want ErrNotFound", missing, err)
			}
		}
	})
	t.Run("Last", func(t *testing.T) {
		m, err := s.Core.Last(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, m, message(a, "a2"), second)
		if _, err := s.Core.Last(ctx, none); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("last of an empty subject gave %v, want ErrNotFound", err)
		}
	})
	t.Run("State", func(t *testing.T) {
		state, err := s.Core.State(ctx, bus.ShardStream(1))
		if err != nil {
			t.Fatal(err)
		}
		if state.First != 1 || state.Last != second.Sequence || state.Messages != second.Sequence || state.Bytes == 0 {
			t.Errorf("state %+v after %d messages", state, second.Sequence)
		}
	})
	t.Run("LastOf", func(t *testing.T) { testLastOf(t, s.Core, a, b, none) })
}

// many is more subjects than a server looks up in one request.
const many = 1100

func testLastOf(t *testing.T, core bus.Core, a, b, none string) {
	t.Helper()
	ctx := deadline(t)
	bodies := func(subjects ...string) (got []string) {
		found, err := core.LastOf(ctx, 1, subjects)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			got = append(got, string(m.Body))
		}
		slices.Sort(got)
		return got
	}
	if got := bodies(a, b, none); !slices.Equal(got, []string{"a2", "b1"}) {
		t.Errorf("last of three subjects: %v", got)
	}
	if got := bodies(none); len(got) != 0 {
		t.Errorf("last of an empty subject: %v", got)
	}
	if got := bodies(); len(got) != 0 {
		t.Errorf("last of no subject: %v", got)
	}
	subjects := make([]string, many)
	for i := range subjects {
		subjects[i] = subjectIn(core, 1, "many", i)
		core.Publish(message(subjects[i], "x"), bus.Expect{}, func(_ bus.Ack, err error) {
			if err != nil {
				t.Errorf("publish: %v", err)
			}
		})
	}
	mustAppend(t, core, a, "a3") // behind them all
	if got := bodies(append(subjects, a)...); len(got) != many+1 {
		t.Errorf("last of %d subjects found %d", many+1, len(got))
	}
}
