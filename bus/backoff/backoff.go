// Package backoff says how long to wait before the next try of what has failed for now,
// and waits; and between two turns of what is done again and again ([Every]).
package backoff

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits, or returns the cause that ended ctx.
func Pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every does something again and again until ctx ends, for the first time after a pause.
func Every(ctx context.Context, pause time.Duration, do func()) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// After returns the wait after the n-th failure in a row, the first being 0: first,
// then twice as long each time, up to most.
func After(first, most time.Duration, n int) time.Duration {
	for ; n > 0 && first < most; n-- {
		first *= 2
	}
	return min(first, most)
}

// A Backoff is the wait before another try: First, then twice as long each time up to
// Most, less up to a half by chance, so that many do not try at once. Without them it is
// 50 ms up to 5 s.
type Backoff struct {
	First, Most time.Duration

	tries int
}

// Next returns the next wait.
func (b *Backoff) Next() time.Duration {
	wait := After(cmp.Or(b.First, 50*time.Millisecond), cmp.Or(b.Most, 5*time.Second), b.tries)
	b.tries++
	return wait/2 + rand.N(wait/2) //nolint:gosec // spreads load, guards nothing
}

// Wait waits, or returns the cause that ended ctx.
func (b *Backoff) Wait(ctx context.Context) error { return Pause(ctx, b.Next()) }

// Reset begins with the first wait again.
func (b *Backoff) Reset() { b.tries = 0 }
