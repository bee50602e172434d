// Package ledgerwatch watches whether an open ledger has room, can be written and holds what
// it did. While it has none, or cannot, or does not, nothing is put on it; an embedded
// server that has met a full disk is started again when there is room. It says how the
// ledger is: to the log, and to who asks for the health page and for metrics.
package ledgerwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/backoff"
	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
	"podium/bus/intake"
	"podium/cmd/podium/installation"
)

const (
	// NearlyFull is the percentage of what the ledger may hold from which on an operator is
	// told. It is below the one at which intake is refused.
	NearlyFull = intake.IntakeShare - 10

	diskEvery  = 100 * time.Millisecond // between two looks at what the disk has left
	startEvery = 5 * time.Second        // between two tries to start the server again
	writeEvery = time.Second            // between two questions whether the server can write
	lossEvery  = time.Second            // between two looks for what is lost, and at how full the ledger is

	// diskFloor is what the disk has to have left, in bytes, for anything to be stored: a
	// server that meets a full disk gives up the stream that it was writing. From
	// diskAgain on it goes on.
	diskFloor = 4 << 20
	diskAgain = 8 << 20
)

// A Watcher watches one ledger. It is safe for use by several goroutines at once.
type Watcher struct {
	ledger *installation.Ledger
	used   *intake.Usage
	free   func() (int64, error) // nil when the disk is another machine's
	log    zerolog.Logger

	mu      sync.Mutex
	full    error     // why nothing is stored: no room
	failed  error     // or the server cannot write
	lost    error     // or it does not hold what it did
	settled bool      // nothing is begun any more
	tried   time.Time // to start the server again
	found   chan struct{}
	said    string // of the level
}

// New watches nothing yet.
func New(ledger *installation.Ledger, log zerolog.Logger) *Watcher {
	w := &Watcher{ledger: ledger, used: intake.NewUsage(ledger.Core), log: log, found: make(chan struct{})}
	if ledger.Server != nil {
		w.free = embedded.Free(ledger.Data)
	}
	return w
}

// Watch begins to look, until end is called.
func (w *Watcher) Watch() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { backoff.Every(ctx, lossEvery, func() { w.lookForLoss(ctx); w.sayLevel(ctx) }) })
	if w.free != nil {
		watching.Go(func() { w.watchDisk(ctx) })
	}
	return func() { cancel(); watching.Wait() }
}

// Settle is told that the process ends: the server is not started again any more.
func (w *Watcher) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled = true
}

// holds returns what is held, and why: the worst first.
func (w *Watcher) holds() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.worst()
}

func (w *Watcher) worst() error { return cmp.Or(w.lost, w.failed, w.full) }

// set changes one of the reasons, and reports whether it is another than before.
func (w *Watcher) set(where *error, reason error) (changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed = (*where == nil) != (reason == nil)
	*where = reason
	w.ledger.Core.Hold(w.worst())
	return changed
}

// watchDisk looks at the disk, and at whether the server can write.
func (w *Watcher) watchDisk(ctx context.Context) {
	var asked time.Time
	backoff.Every(ctx, diskEvery, func() {
		if w.ledger.Server.Failed() != nil || time.Since(asked) >= writeEvery {
			asked = time.Now()
			w.checkWrites()
		}
		left, err := w.free()
		if err != nil {
			return // what is not there is lost: see lookForLoss
		}
		if left < diskFloor && w.set(&w.full, noRoom(left)) {
			w.log.Error().Int64("disk_free", left).Msg("the ledger's disk is full: nothing is stored until there is room")
		}
		if left >= diskAgain && w.holds() != nil {
			w.checkWrites()
			w.resume(ctx)
		}
	})
}

func noRoom(left int64) error {
	return fmt.Errorf("%w: its disk has %d MB left: make room there, and podium goes on by itself", bus.ErrFull, left/1_000_000)
}

// checkWrites ends what the server answers no more.
func (w *Watcher) checkWrites() {
	err := w.ledger.Server.CheckWrites()
	if err == nil {
		return
	}
	trouble, _ := errors.AsType[*embedded.WriteError](err)
	reason := fmt.Errorf("%w; look at the disk, and start podium again: it reads then what the disk has kept", err)
	if trouble.Full {
		reason = fmt.Errorf("%w: its disk had no room for a message: make room there, and podium goes on by itself", bus.ErrFull)
	}
	if w.set(&w.failed, reason) {
		w.log.Error().Err(err).Msg("the ledger's server has met a disk that it cannot write: nothing is stored until it can")
	}
	w.ledger.Core.Abandon()
}

// resume goes on when there is room again. A server that has met a full disk is
// started again first: it does not go on by itself.
func (w *Watcher) resume(ctx context.Context) {
	w.mu.Lock()
	full, failed, settled := w.full, w.failed, w.settled
	w.mu.Unlock()
	switch {
	case full == nil && failed == nil, settled:
		return
	case failed != nil && !errors.Is(failed, bus.ErrFull):
		return // it is no matter of room
	case failed != nil && time.Since(w.tried) < startEvery:
		return
	case failed != nil:
		w.tried = time.Now()
		w.log.Info().Msg("there is room again: the ledger's server is started again")
		if err := w.ledger.Server.Restart(ctx); err != nil {
			w.log.Error().Err(err).Msg("the ledger's server does not start; trying again")
			if _, damaged := errors.AsType[*recovery.LossError](err); damaged || errors.Is(err, bus.ErrFailed) {
				w.set(&w.failed, err) // no room repairs that
			}
			return
		}
		w.set(&w.failed, nil)
	}
	if left, err := w.free(); err == nil && left >= diskAgain { // the start has taken its time
		w.set(&w.full, nil)
		w.log.Info().Int64("disk_free", left).Msg("the ledger's disk has room again: messages are stored")
	}
}

// lookForLoss compares the ledger with what was seen of it.
func (w *Watcher) lookForLoss(ctx context.Context) {
	err := w.missing()
	if err == nil {
		err = w.ledger.Core.Verify(ctx)
	}
	lost := errors.Is(err, bus.ErrLost)
	if err != nil && !lost {
		return // it does not say
	}
	if w.set(&w.lost, err) {
		w.tellLoss(err)
	}
}

// missing looks for what was removed from under the server.
func (w *Watcher) missing() error {
	if w.ledger.Server == nil {
		return nil
	}
	err := w.ledger.Server.CheckStreams(w.ledger.Core.Streams()...)
	if lost, ok := errors.AsType[*bus.LostError](err); ok {
		lost.Seen = w.ledger.Core.Seen(lost.Stream)
	}
	return err
}

func (w *Watcher) tellLoss(lost error) {
	if lost != nil {
		w.log.Error().Err(lost).Msg("messages are lost: nothing is stored until they are back")
		return
	}
	w.log.Info().Msg("the ledger is whole again")
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.found)
	w.found = make(chan struct{})
}

// AwaitFound looks whether the ledger has lost messages, and if so waits until they
// are back, or until ctx ends. It reports whether it had.
func (w *Watcher) AwaitFound(ctx context.Context) bool {
	w.lookForLoss(ctx)
	w.mu.Lock()
	lost, found, failed := w.lost, w.found, w.failed
	w.mu.Unlock()
	if errors.Is(failed, bus.ErrFailed) {
		<-ctx.Done() // only another process goes on
		return true
	}
	if lost == nil {
		return false
	}
	select {
	case <-found:
	case <-ctx.Done():
	}
	return true
}
