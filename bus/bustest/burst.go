package bustest

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"podium/bus"
)

// testBurst has many messages under way at once, as a busy shard has: a ledger
// that stores them together must still give each its own outcome, its own
// sequence and its place in line.
func testBurst(t *testing.T, core bus.Core) {
	t.Helper()
	const bursts, sessions = 3, 150
	last := make([]uint64, sessions)
	for burst := range bursts {
		acks, errs := make([]bus.Ack, sessions), make([]error, sessions)
		requests := make([]bus.Ack, sessions)
		var done sync.WaitGroup
		done.Add(2 * sessions)
		for i := range sessions {
			body := strconv.Itoa(burst) + "." + strconv.Itoa(i)
			expect := bus.ExpectLast(last[i])
			if conflicting(burst, i) {
				expect = bus.ExpectLast(last[i] + 1<<40)
			}
			core.Publish(message(subjectIn(core, 0, "burst", i), body), expect, func(ack bus.Ack, err error) {
				defer done.Done()
				acks[i], errs[i] = ack, err
			})
			core.Publish(message(bus.RequestSubject("echo"), body), bus.Expect{}, func(ack bus.Ack, err error) {
				defer done.Done()
				requests[i] = ack
				if err != nil {
					t.Errorf("request %s: %v", body, err)
				}
			})
		}
		done.Wait()
		for i := range sessions {
			want := strconv.Itoa(burst) + "." + strconv.Itoa(i)
			if conflict := errors.Is(errs[i], bus.ErrConflict); conflict != conflicting(burst, i) || !conflict && errs[i] != nil {
				t.Errorf("append %s: %v", want, errs[i])
			}
			if errs[i] == nil {
				mustStand(t, core, acks[i], want)
				last[i] = acks[i].Sequence
			}
			mustStand(t, core, requests[i], want)
			if i > 0 && requests[i].Sequence <= requests[i-1].Sequence {
				t.Errorf("request %s has sequence %d, the one before %d", want, requests[i].Sequence, requests[i-1].Sequence)
			}
		}
	}
}

// conflicting picks none of the first burst, few of the second, and every other
// of the third.
func conflicting(burst, i int) bool {
	return burst == 1 && i%50 == 49 || burst == 2 && i%2 == 1
}

func mustStand(t *testing.T, core bus.Core, ack bus.Ack, want string) {
	t.Helper()
	stored, err := core.Get(deadline(t), ack.Stream, ack.Sequence)
	if err != nil || string(stored.Body) != want {
		t.Errorf("%s %d holds %q, %v; want %q", ack.Stream, ack.Sequence, stored.Body, err, want)
		return
	}
	if len(stored.Header) != 1 || stored.Header["ce-id"][0] != want {
		t.Errorf("%s has the headers %v, want its own only", want, stored.Header)
	}
}
