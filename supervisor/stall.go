package supervisor

import (
	"sync"
	"sync/atomic"
	"time"
)

// StalledAfter is how long an owner may decide nothing while inputs wait, before its shard counts as stalled.
const StalledAfter = 10 * time.Second

// A stallWatch lets other goroutines see whether an owner gets on, also while its loop is busy with one thing.
type stallWatch struct {
	decided atomic.Uint64 // records on their way to the ledger, and inputs dealt with
	waiting atomic.Int64  // inputs that were read, and are neither dealt with nor held as orphans
	turning atomic.Bool   // a Tick is under way
	left    uint64        // of Watermark.Left, what decided counts; the loop's own

	mu      sync.Mutex
	seen    uint64 // decided, at the last look
	changed time.Time
}

// noteTurn tells the watch that the loop begins a turn, or has ended it.
func (o *Owner) noteTurn(turning bool) {
	o.stall.decided.Add(o.watermark.Left - o.stall.left)
	o.stall.left = o.watermark.Left
	o.stall.waiting.Store(int64(o.watermark.Pending() - len(o.orphans.waiting)))
	o.stall.turning.Store(turning)
}

// CheckStall notes how far the owner is. It reports whether inputs have waited for StalledAfter while the owner decided
// nothing, and since when. Call it every second or so, from any goroutine: it measures from the first call that finds
// inputs waiting.
func (o *Owner) CheckStall(now time.Time) (since time.Time, stalled bool) {
	w := &o.stall
	w.mu.Lock()
	defer w.mu.Unlock()
	decided := w.decided.Load()
	if idle := w.waiting.Load() <= 0 && !w.turning.Load(); idle || decided != w.seen || w.changed.IsZero() {
		w.seen, w.changed = decided, now
	}
	return w.changed, now.Sub(w.changed) >= StalledAfter
}
