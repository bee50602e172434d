package imap

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"podium/bus/backoff"
)

// A Host is one mail server as all adapters to it share it: when it is in trouble
// they wait together, and when it refuses the credentials of a user they all stop
// asking for that user. It is safe for use by several goroutines at once.
type Host struct {
	mu       sync.Mutex
	failures int                  // in a row
	until    time.Time            // before which nobody connects
	refused  map[string]time.Time // by user name: before which that user does not
	gate     chan struct{}        // held while one adapter connects
}

// NewHost returns a server that is in no trouble.
func NewHost() *Host {
	return &Host{refused: map[string]time.Time{}, gate: make(chan struct{}, 1)}
}

// enter waits until a user may connect, and lets one adapter at a time do so until
// it calls leave. It returns false when the context ends first.
func (h *Host) enter(ctx context.Context, user string, clock func() time.Time) bool {
	for {
		select {
		case h.gate <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		h.mu.Lock()
		until := h.until
		if refused := h.refused[user]; refused.After(until) {
			until = refused
		}
		h.mu.Unlock()
		wait := until.Sub(clock())
		if wait <= 0 && ctx.Err() == nil {
			return true
		}
		h.leave() // others may have less to wait for
		if !sleep(ctx, wait) {
			return false
		}
	}
}

func (h *Host) leave() { <-h.gate }

// succeeded ends the trouble.
func (h *Host) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures = 0
}

// failed notes that a connection failed that was opened at a time, and returns
// how long nobody connects: with full jitter from a doubling limit. Several
// connections that one failure has ended count once.
func (h *Host) failed(opened, now time.Time, least, most time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if opened.Before(h.until) {
		return max(0, h.until.Sub(now))
	}
	wait := jitter(backoff.After(least, most, h.failures))
	h.failures++
	h.until = now.Add(wait)
	return wait
}

// deny notes that a user's credentials were refused, and returns how long nobody
// tries them: long, since trying them at once would lock the account.
func (h *Host) deny(user string, now time.Time, most time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := most/2 + jitter(most/2)
	h.refused[user] = now.Add(wait)
	return wait
}

// jitter returns a duration between zero and limit. Its randomness spreads the
// reconnections of many adapters and decides nothing else.
func jitter(limit time.Duration) time.Duration {
	return rand.N(limit + 1) //nolint:gosec // no secret depends on it
}

// sleep returns false when the context ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	return ctx.Err() == nil && backoff.Pause(ctx, wait) == nil
}
