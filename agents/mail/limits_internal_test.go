package mail

import (
	"context"
	"errors"
	"net/mail"
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

// letterTo returns a letter to some mailboxes.
func letterTo(email string, peers ...string) *letter {
	made := &letter{messageID: email}
	for _, peer := range peers {
		made.to = append(made.to, &mail.Address{Address: peer})
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
		giveBack, err := s.admit(t.Context(), now, letterTo(email, peers...), func(time.Duration) {})
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
				_, err := s.admit(t.Context(), time.Now(), letterTo("id", "a"), func(time.Duration) { told.Add(1) })
				if err != nil {
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
			_, err := s.admit(ctx, time.Now(), letterTo("id", peer), func(time.Duration) {})
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

// TestQuestionsOfOneRequesterDelayTheirOwnAlone: questions to a person have turns of their own, so many in an hour
// for each requester, and six times as many for all of them. A requester whose questions wait uses up nothing of
// the others.
func TestQuestionsOfOneRequesterDelayTheirOwnAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, serial := limited(t, Limits{PeerPerHour: 2}), 0
		wait := func(made *letter) time.Duration {
			t.Helper()
			_, err := s.admit(t.Context(), time.Now(), made, func(time.Duration) {})
			if limit := (*limitError)(nil); errors.As(err, &limit) {
				return limit.wait
			}
			return 0
		}
		question := func(requester string, peers ...string) *letter {
			serial++
			made := letterTo(requester+strconv.Itoa(serial), peers...)
			made.requester = requester
			return made
		}
		expect := func(what string, want time.Duration, made *letter) {
			t.Helper()
			if got := wait(made); got != want {
				t.Errorf("%s waits for %v, not %v", what, got, want)
			}
		}
		for i := range 200 { // the flood: of the last ones the turns are more than a day away
			expect("question of the flood", min(time.Duration(i/2), 24+1)*time.Hour, question("flood", "doctor"))
		}
		for range 2 {
			expect("question of another requester", 0, question("patient", "doctor"))
		}
		expect("third question of another requester", time.Hour, question("patient", "doctor"))
		expect("question of the flood to another person", 0, question("flood", "nurse"))
		expect("question of the flood to both", 25*time.Hour, question("flood", "doctor", "nurse"))
		expect("second question of the flood to another person", 0, question("flood", "nurse"))
		for range 2 {
			expect("answer to the doctor", 0, letterTo(strconv.Itoa(serial), "doctor"))
		}
		expect("third answer to the doctor", time.Hour, letterTo("third", "doctor"))

		for i := range 4 { // the turns of the doctor that are left of 12
			for range 2 {
				expect("question while turns are left", 0, question("requester "+strconv.Itoa(i), "doctor"))
			}
		}
		waiting := []*letter{
			question("busy", "doctor"), question("busy", "doctor"), question("busy", "doctor"), question("late", "doctor"),
		}
		for _, made := range waiting {
			expect("question beyond the doctor's turns", time.Hour, made)
		}
		if turns := len(s.people.taken["doctor"]); turns != 12+3 {
			t.Errorf("%d turns of the doctor are taken: a question without a turn of its requester has one", turns)
		}
		time.Sleep(time.Hour)
		for i, made := range []*letter{waiting[0], waiting[1], waiting[3]} {
			expect("promised question "+strconv.Itoa(i), 0, made)
		}
	})
}

// TestQuestionThatIsNotSentGivesItsTurnsBack, those of its requester and those of the person.
func TestQuestionThatIsNotSentGivesItsTurnsBack(t *testing.T) {
	t.Parallel()
	s, now := limited(t, Limits{PeerPerHour: 1}), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := letterTo("id", "doctor", "nurse")
	made.requester = "patient"
	giveBack, err := s.admit(t.Context(), now, made, func(time.Duration) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.requesters.taken) != 2 || len(s.people.taken) != 2 || len(s.peers.taken) != 0 {
		t.Errorf("turns of %v, %v and %v are taken", s.requesters.taken, s.people.taken, s.peers.taken)
	}
	if giveBack(); len(s.requesters.taken)+len(s.people.taken) != 0 {
		t.Errorf("turns of %v and %v are kept", s.requesters.taken, s.people.taken)
	}
}
