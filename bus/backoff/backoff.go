// Package backoff says how long to wait before the next try of what has failed for now,
// and waits.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits, or returns the cause that ended ctx.
func Pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A Backoff is the wait before another try: 50 ms, then twice as long each
// time up to 5 s, less up to a half by chance, so that many do not try at once.
type Backoff struct{ next time.Duration }

// Wait waits, or returns the cause that ended ctx.
func (b *Backoff) Wait(ctx context.Context) error {
	b.next = min(max(2*b.next, 50*time.Millisecond), 5*time.Second)
	return Pause(ctx, b.next/2+rand.N(b.next/2)) //nolint:gosec // spreads load, guards nothing
}
