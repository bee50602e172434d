package imap

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"podium/ingest/imap/connection"
)

// TestBackOffOfAHost_I12: from one second to five minutes, doubling, with full
// jitter; what many adapters see of one outage counts once.
func TestBackOffOfAHost_I12(t *testing.T) {
	t.Parallel()
	host, now := NewHost(), time.Unix(1000, 0)
	limit := time.Second
	for attempt := range 20 {
		opened := now
		wait := host.failed(opened, now, time.Second, 5*time.Minute)
		if wait < 0 || wait > limit {
			t.Errorf("attempt %d: %v is not below %v", attempt, wait, limit)
		}
		if again := host.failed(opened.Add(-time.Minute), now, time.Second, 5*time.Minute); again != wait {
			t.Errorf("attempt %d: another adapter waits %v", attempt, again)
		}
		now = now.Add(wait)
		limit = min(2*limit, 5*time.Minute)
	}
	if host.failures != 20 {
		t.Errorf("%d failures were counted", host.failures)
	}
	host.succeeded()
	if wait := host.failed(now, now, time.Second, 5*time.Minute); wait > time.Second {
		t.Errorf("after a success: %v", wait)
	}
}

// TestRefusedCredentialsWaitLong_I12: at least half of the longest wait, and only
// for that user.
func TestRefusedCredentialsWaitLong_I12(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := NewHost()
		began := time.Now()
		wait := host.deny("a", began, 5*time.Minute)
		if wait < 150*time.Second || wait > 5*time.Minute {
			t.Errorf("wait %v", wait)
		}
		if !host.enter(t.Context(), "b", time.Now) || time.Since(began) > 0 {
			t.Errorf("another user waited %v", time.Since(began))
		}
		host.leave()
		if !host.enter(t.Context(), "a", time.Now) || time.Since(began) < wait {
			t.Errorf("the user waited %v instead of %v", time.Since(began), wait)
		}
		host.leave()
		host.deny("a", time.Now(), 5*time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if host.enter(ctx, "a", time.Now) {
			t.Error("it entered while it was to wait")
		}
	})
}

// TestOneAdapterConnectsAtATime_I12: the others wait, and give up with their context.
func TestOneAdapterConnectsAtATime_I12(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := NewHost()
		if !host.enter(t.Context(), "a", time.Now) {
			t.Fatal("it may not enter")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if host.enter(ctx, "a", time.Now) {
			t.Error("two are in")
		}
		host.leave()
		if !host.enter(t.Context(), "a", time.Now) {
			t.Error("nobody is in, and it may not enter")
		}
	})
}

// TestRefusedCredentialsAreTriedOnce_I12: no adapter tries them between the refusal and the note of it.
func TestRefusedCredentialsAreTriedOnce_I12(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host, dials := NewHost(), atomic.Int32{}
		slow := func() time.Time {
			time.Sleep(time.Second) // in which others would try
			return time.Now()
		}
		for range 3 {
			adapter := statusAdapter(t, Config{Config: connection.Config{Clock: slow}, BackOffMax: time.Hour, AlarmAfter: 24 * time.Hour}, Dependencies{Host: host})
			adapter.dependencies.Dial = func(context.Context) (connection.MailSource, error) {
				dials.Add(1)
				return nil, connection.ErrAuthentication
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- adapter.Run(ctx) }()
			defer func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(10 * time.Minute)
		if tried := dials.Load(); tried != 1 {
			t.Errorf("refused credentials were tried %d times", tried)
		}
	})
}
