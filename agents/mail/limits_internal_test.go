package mail

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestWindowSlides(t *testing.T) {
	t.Parallel()
	w, now := newWindow(time.Hour, 3), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 3 {
		if wait := w.take("a", now.Add(time.Duration(i)*time.Minute)); wait != 0 {
			t.Fatalf("the %dth is to wait %v", i, wait)
		}
	}
	if wait := w.take("a", now.Add(10*time.Minute)); wait != 50*time.Minute {
		t.Errorf("it is to wait %v", wait)
	}
	if wait := w.take("b", now); wait != 0 {
		t.Errorf("another one is to wait %v", wait)
	}
	if wait := w.take("a", now.Add(time.Hour)); wait != 0 {
		t.Errorf("an hour later it is to wait %v", wait)
	}
	w.giveBack("a")
	if wait := w.take("a", now.Add(time.Hour)); wait != 0 {
		t.Errorf("after giving back it is to wait %v", wait)
	}
}

func TestWindowForgetsWhatWasUsedLongestAgo(t *testing.T) {
	t.Parallel()
	w, now := newWindow(time.Hour, 1), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range peersLimit + 100 {
		w.take(strconv.Itoa(i), now.Add(time.Duration(i)*time.Millisecond))
	}
	if len(w.taken) != peersLimit {
		t.Errorf("%d keys are kept", len(w.taken))
	}
	if w.take("99", now.Add(time.Minute)) != 0 || w.take("1000", now.Add(time.Minute)) == 0 {
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

func TestRateWaitsWhenItsTurnIsNear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, start := limited(t, Limits{PerMinute: 2}), time.Now()
		admit := func(ctx context.Context, peer string) error {
			_, err := s.admit(ctx, time.Now, []string{peer})
			return err
		}
		if err := errors.Join(admit(t.Context(), "a"), admit(t.Context(), "b")); err != nil {
			t.Fatal(err)
		}
		var limit *limitError
		if err := admit(t.Context(), "c"); !errors.As(err, &limit) || limit.peer || limit.wait != time.Minute || !time.Now().Equal(start) {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(55 * time.Second)
		if err := admit(t.Context(), "c"); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := admit(t.Context(), "d"); err != nil {
			t.Error(err)
		}
		time.Sleep(55 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := admit(ctx, "e"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if len(s.peers.taken["e"])+len(s.peers.taken["c"]) != 1 {
			t.Error("what was not sent counts")
		}
	})
}
