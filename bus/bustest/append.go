package bustest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"podium/bus"
	"podium/schemas"
)

func message(subject, body string) bus.Message {
	return bus.Message{Subject: subject, Header: bus.Header{"ce-id": {body}}, Body: []byte(body)}
}

// sessionOf returns the n-th session of a test that belongs to a shard.
func sessionOf(shard, shards int, test string, n int) string {
	for i := 0; ; i++ {
		if s := schemas.SessionID(test, fmt.Sprint(n, ".", i)); schemas.ShardOf(s, shards) == shard {
			return s
		}
	}
}

func subjectIn(core bus.Core, shard int, test string, n int) string {
	return bus.SessionSubject(sessionOf(shard, core.Shards(), test, n), core.Shards())
}

func mustAppend(t *testing.T, core bus.Core, subject, body string) bus.Ack {
	t.Helper()
	ack, err := bus.Append(deadline(t), core, message(subject, body), bus.Expect{})
	if err != nil {
		t.Fatalf("append to %s: %v", subject, err)
	}
	return ack
}

func testAppend(t *testing.T, s System) {
	t.Run("EachSubjectHasItsStream", func(t *testing.T) {
		for subject, want := range map[string]string{
			bus.InSubject("chat", 1):              bus.ShardStream(1),
			bus.ResponseSubject("echo", 0):        bus.ShardStream(0),
			bus.ProgressSubject("echo", 1):        bus.ShardStream(1),
			bus.ControlSubject(0):                 bus.ShardStream(0),
			bus.ShardSubject(1):                   bus.ShardStream(1),
			bus.QuarantineSubject("malformed", 0): bus.ShardStream(0),
			subjectIn(s.Core, 1, "placed", 0):     bus.ShardStream(1),
			bus.RequestSubject("echo"):            bus.WorkStream,
			"podium.agent.echo.response":          bus.WorkStream,
			"podium.agent.echo.progress":          bus.WorkStream,
			"podium.agent.echo.permit.0":          bus.ShardStream(0),
		} {
			if ack := mustAppend(t, s.Core, subject, "here"); ack.Stream != want {
				t.Errorf("%s went to %s, want %s", subject, ack.Stream, want)
			}
		}
	})
	t.Run("UnknownSubjectIsRefused", func(t *testing.T) {
		_, err := bus.Append(deadline(t), s.Core, message("podium.in.chat."+strconv.Itoa(s.Core.Shards()), "x"), bus.Expect{})
		if err == nil {
			t.Error("a subject that no stream holds was taken")
		}
	})
	t.Run("SameGoroutineKeepsOrder", func(t *testing.T) { testPublishOrder(t, s.Core) })
	t.Run("DoneIsCalledOnce", func(t *testing.T) { testDoneOnce(t, s.Core) })
	t.Run("ManyAtOnceFailApart", func(t *testing.T) { testBurst(t, s.Core) })
	t.Run("CompareAndAppend", func(t *testing.T) { testCompareAndAppend(t, s.Core) })
	t.Run("RacingAppendersHaveOneWinner", func(t *testing.T) { testRace(t, s.Core) })
	t.Run("TooLarge", func(t *testing.T) {
		before, err := s.Core.State(deadline(t), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		huge := bus.Message{Subject: bus.ControlSubject(0), Body: make([]byte, 64<<20+1)}
		if _, err := bus.Append(deadline(t), s.Core, huge, bus.Expect{}); !errors.Is(err, bus.ErrTooLarge) {
			t.Errorf("64 MiB gave %v, want ErrTooLarge", err)
		}
		after, err := s.Core.State(deadline(t), bus.ShardStream(0))
		if err != nil {
			t.Fatal(err)
		}
		if after.Messages != before.Messages {
			t.Error("something was stored")
		}
	})
	t.Run("SameBodyTwiceIsTwoMessages", func(t *testing.T) {
		subject := bus.InSubject("again", 0)
		if a, b := mustAppend(t, s.Core, subject, "same"), mustAppend(t, s.Core, subject, "same"); b.Sequence <= a.Sequence {
			t.Errorf("sequences %d, %d: the second was swallowed", a.Sequence, b.Sequence)
		}
	})
}

func testPublishOrder(t *testing.T, core bus.Core) {
	t.Helper()
	const count = 500
	subject := bus.InSubject("order", 0)
	acks := make([]atomic.Uint64, count)
	var done sync.WaitGroup
	done.Add(count)
	for i := range count {
		core.Publish(message(subject, strconv.Itoa(i)), bus.Expect{}, func(ack bus.Ack, err error) {
			defer done.Done()
			if err != nil {
				t.Errorf("publish %d: %v", i, err)
			}
			acks[i].Store(ack.Sequence)
		})
	}
	done.Wait()
	for i := 1; i < count; i++ {
		if acks[i-1].Load() >= acks[i].Load() {
			t.Fatalf("message %d has sequence %d, the one before %d", i, acks[i].Load(), acks[i-1].Load())
		}
	}
	next := 0
	for m, err := range core.Scan(deadline(t), bus.ShardStream(0), 1, subject) {
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Body) != strconv.Itoa(next) {
			t.Fatalf("position %d holds %q", next, m.Body)
		}
		next++
	}
	if next != count {
		t.Errorf("the stream holds %d of %d", next, count)
	}
}

func testDoneOnce(t *testing.T, core bus.Core) {
	t.Helper()
	subject := subjectIn(core, 0, "once", 0)
	const count = 200
	var calls [count]atomic.Int32
	var first sync.WaitGroup
	first.Add(count)
	for i := range count { // every other one conflicts
		expect := bus.Expect{}
		if i%2 == 1 {
			expect = bus.ExpectLast(1 << 40)
		}
		core.Publish(message(subject, strconv.Itoa(i)), expect, func(_ bus.Ack, err error) {
			if calls[i].Add(1) == 1 {
				first.Done()
			}
			if conflict := errors.Is(err, bus.ErrConflict); conflict != (i%2 == 1) {
				t.Errorf("publish %d: %v", i, err)
			}
		})
	}
	first.Wait()
	mustAppend(t, core, subject, "last") // an awaited publish behind them all
	for i := range calls {
		if n := calls[i].Load(); n != 1 {
			t.Errorf("done of publish %d was called %d times", i, n)
		}
	}
}

func testCompareAndAppend(t *testing.T, core bus.Core) {
	t.Helper()
	ctx := deadline(t)
	subject, other := subjectIn(core, 1, "cas", 0), subjectIn(core, 1, "cas", 1)
	first, err := bus.Append(ctx, core, message(subject, "1"), bus.ExpectLast(0))
	if err != nil {
		t.Fatalf("the first append, expecting none: %v", err)
	}
	if _, err := bus.Append(ctx, core, message(subject, "1 again"), bus.ExpectLast(0)); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("a second first append gave %v, want ErrConflict", err)
	}
	mustAppend(t, core, other, "another subject of the stream")
	second, err := bus.Append(ctx, core, message(subject, "2"), bus.ExpectLast(first.Sequence))
	if err != nil {
		t.Fatalf("append after %d: %v", first.Sequence, err)
	}
	for _, stale := range []uint64{first.Sequence, second.Sequence - 1, second.Sequence + 1, 0} {
		if _, err := bus.Append(ctx, core, message(subject, "stale"), bus.ExpectLast(stale)); !errors.Is(err, bus.ErrConflict) {
			t.Errorf("append after %d gave %v, want ErrConflict", stale, err)
		}
	}
	if bus.Temporary(err) {
		t.Error("a conflict is not temporary")
	}
	last, err := core.Last(ctx, subject)
	if err != nil || last.Sequence != second.Sequence || string(last.Body) != "2" {
		t.Errorf("last is %d %q, %v; want %d", last.Sequence, last.Body, err, second.Sequence)
	}
}

func testRace(t *testing.T, core bus.Core) {
	t.Helper()
	ctx := deadline(t)
	subject := subjectIn(core, 0, "race", 0)
	var last uint64
	for round := range 20 {
		var winners, conflicts atomic.Int32
		var won atomic.Uint64
		var racers sync.WaitGroup
		for racer := range 8 {
			racers.Go(func() {
				ack, err := bus.Append(ctx, core, message(subject, fmt.Sprint(round, racer)), bus.ExpectLast(last))
				switch {
				case err == nil:
					winners.Add(1)
					won.Store(ack.Sequence)
				case errors.Is(err, bus.ErrConflict):
					conflicts.Add(1)
				default:
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		racers.Wait()
		if winners.Load() != 1 || conflicts.Load() != 7 {
			t.Fatalf("round %d: %d winners, %d conflicts", round, winners.Load(), conflicts.Load())
		}
		last = won.Load()
	}
}
