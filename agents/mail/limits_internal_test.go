package mail

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestWindowSlides(t *testing.T) {
	t.Parallel()
	w, now := newWindow(time.Hour, 3), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expect := func(key string, at, latest, want time.Duration, taken bool) {
		t.Helper()
		turn, ok := w.take(key, now.Add(at), now.Add(latest))
		if got := turn.Sub(now); got != want || ok != taken {
			t.Errorf("after %v %s has its turn at %v (taken: %t)", at, key, got, ok)
		}
	}
	for i := range 3 {
		at := time.Duration(i) * time.Minute
		expect("a", at, at, at, true)
	}
	expect("a", 10*time.Minute, 10*time.Minute, time.Hour, false)
	expect("b", 0, 0, 0, true)
	expect("a", time.Hour, time.Hour, time.Hour, true)
	expect("a", time.Hour, time.Hour, time.Hour+time.Minute, false)
	w.giveBack("a", now.Add(time.Hour))
	expect("a", time.Hour, time.Hour, time.Hour, true)
}

// TestTurnsToComeKeepTheRate gives turns away in advance, and some of them back, at
// random: never are there more than the limit in one span.
func TestTurnsToComeKeepTheRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		w, now := newWindow(time.Minute, limit), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var used []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "letters") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "pause")) * time.Second)
			turn, taken := w.take("", now, time.Time{})
			if !taken || turn.Before(now) {
				t.Fatalf("a turn %v from now, taken: %t", turn.Sub(now), taken)
			}
			used = append(used, turn)
			if rapid.IntRange(0, 3).Draw(t, "give back") == 0 {
				i := rapid.IntRange(0, len(used)-1).Draw(t, "which")
				if used[i].After(now) { // what is past was sent
					w.giveBack("", used[i])
					used = slices.Delete(used, i, i+1)
				}
			}
		}
		slices.SortFunc(used, time.Time.Compare)
		for i := limit; i < len(used); i++ {
			if span := used[i].Sub(used[i-limit]); span < time.Minute {
				t.Fatalf("%d turns within %v", limit+1, span)
			}
		}
	})
}

func TestWindowForgetsWhatWasUsedLongestAgo(t *testing.T) {
	t.Parallel()
	w, now := newWindow(time.Hour, 1), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range peersLimit + 100 {
		w.take(strconv.Itoa(i), now.Add(time.Duration(i)*time.Millisecond), time.Time{})
	}
	if len(w.taken) != peersLimit {
		t.Errorf("%d keys are kept", len(w.taken))
	}
	later := now.Add(time.Minute)
	_, forgotten := w.take("99", later, later)
	_, kept := w.take("1000", later, later)
	if !forgotten || kept {
		t.Error("it forgets others than the oldest")
	}
}

func limited(t *testing.T, limits Limits) *sender {
	t.Helper()
	made, err := newSender("support", Account{Host: "h", From: "a@b.example", Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestEmailsBeyondABudgetGoOutInOrder: what is beyond the budget of a mailbox is promised the next free turns, in the order in which it came. An
// email that comes later, or for the first time when a turn is free, does not overtake it, and none is lost.
func TestEmailsBeyondABudgetGoOutInOrder(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := limited(t, Limits{PeerPerHour: 2})
	admit := func(email string, peers ...string) (wait time.Duration, giveBack func()) {
		t.Helper()
		giveBack, err := s.admit(t.Context(), now, email, peers, func(time.Duration) {})
		if limit := (*limitError)(nil); errors.As(err, &limit) {
			return limit.wait, giveBack
		}
		return 0, giveBack
	}
	for i, want := range []time.Duration{0, 0, time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour} {
		if wait, _ := admit(strconv.Itoa(i), "a"); wait != want {
			t.Errorf("email %d waits for %v, not %v", i, wait, want)
		}
	}
	if wait, _ := admit("3", "a"); wait != time.Hour {
		t.Errorf("asked again too early, it waits for %v", wait)
	}
	now = now.Add(time.Hour)
	if wait, _ := admit("new", "a"); wait != 2*time.Hour {
		t.Errorf("a new one has overtaken those that wait: %v", wait)
	}
	for _, email := range []string{"3", "2"} {
		if wait, _ := admit(email, "a"); wait != 0 {
			t.Errorf("%s waits for %v more", email, wait)
		}
	}
	now = now.Add(time.Hour)
	wait, giveBack := admit("4", "a")
	if wait != 0 {
		t.Errorf("4 waits for %v more", wait)
	}
	giveBack() // it was not sent
	if wait, _ := admit("4", "a", "b"); wait != 0 {
		t.Errorf("what was not sent counts: %v", wait)
	}
	if wait, _ := admit("both", "a", "b"); wait != time.Hour {
		t.Errorf("to two, of whom one has capacity: %v", wait)
	}
}

// within is a context that ends after some time, as that of a request does.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func TestLetterBeyondTheRateWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := limited(t, Limits{PerMinute: 2}), time.Now()
		sent := make([]time.Duration, 6)
		var told atomic.Int32
		for i := range sent {
			go func() {
				if _, err := s.admit(t.Context(), time.Now(), "id", []string{"a"}, func(time.Duration) { told.Add(1) }); err != nil {
					t.Error(err)
				}
				sent[i] = time.Since(start)
			}()
			synctest.Wait()
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		want := []time.Duration{0, 0, time.Minute, time.Minute, 2 * time.Minute, 2 * time.Minute}
		if !slices.Equal(sent, want) || told.Load() != 4 {
			t.Errorf("sent after %v, told %d times that they wait", sent, told.Load())
		}
	})
}

func TestLetterWhoseTurnComesTooLateFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := limited(t, Limits{PerMinute: 1}), time.Now()
		admit := func(ctx context.Context, peer string) error {
			_, err := s.admit(ctx, time.Now(), "id", []string{peer}, func(time.Duration) {})
			return err
		}
		if err := admit(within(t, time.Second), "a"); err != nil {
			t.Errorf("a turn that is there is used, however late it is: %v", err)
		}
		var limit *limitError
		err := admit(within(t, time.Minute+sendReserve-time.Nanosecond), "b")
		if !errors.As(err, &limit) || limit.peer || limit.wait != time.Minute || !time.Now().Equal(start) {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := admit(within(t, time.Minute+sendReserve), "c"); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(within(t, 5*time.Minute))
		time.AfterFunc(time.Second, cancel)
		if err := admit(ctx, "d"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if err := admit(within(t, 5*time.Minute), "e"); err != nil || time.Since(start) != 2*time.Minute {
			t.Errorf("a turn that was given back is not had by the next one: %v after %v", err, time.Since(start))
		}
		if len(s.peers.taken) != 3 {
			t.Errorf("what was not sent counts: %v", s.peers.taken)
		}
	})
}
