package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/embedded/recovery"
	"podium/bus/intake"
)

const (
	// nearlyFull is the percentage from which on an operator is told.
	nearlyFull = gateShare

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

// A room watches whether a ledger has room, can write and is whole. While it has none,
// or cannot, or is not, nothing is put on it.
type room struct {
	ledger *Ledger
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

func newRoom(ledger *Ledger, log zerolog.Logger) *room {
	r := &room{ledger: ledger, used: intake.NewUsage(ledger.Core), log: log, found: make(chan struct{})}
	if ledger.server != nil {
		r.free = embedded.Free(ledger.Data)
	}
	return r
}

// watch begins to look, until end is called.
func (r *room) watch() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { every(ctx, lossEvery, func() { r.lookForLoss(ctx); r.sayLevel(ctx) }) })
	if r.free != nil {
		watching.Go(func() { r.watchDisk(ctx) })
	}
	return func() { cancel(); watching.Wait() }
}

// every calls look again and again until ctx ends.
func every(ctx context.Context, pause time.Duration, look func()) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			look()
		case <-ctx.Done():
			return
		}
	}
}

// settle is told that the process ends: the server is not started again any more.
func (r *room) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = true
}

// holds returns what is held, and why: the worst first.
func (r *room) holds() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worst()
}

func (r *room) worst() error {
	for _, reason := range [...]error{r.lost, r.failed, r.full} {
		if reason != nil {
			return reason
		}
	}
	return nil
}

// set changes one of the reasons, and reports whether it is another than before.
func (r *room) set(where *error, reason error) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed = (*where == nil) != (reason == nil)
	*where = reason
	r.ledger.Core.Hold(r.worst())
	return changed
}

// watchDisk looks at the disk, and at whether the server can write.
func (r *room) watchDisk(ctx context.Context) {
	var asked time.Time
	every(ctx, diskEvery, func() {
		left, err := r.free()
		if err != nil {
			return // what is not there is lost: see lookForLoss
		}
		if left < diskFloor && r.set(&r.full, noRoom(left)) {
			r.log.Error().Int64("disk_free", left).Msg("the ledger's disk is full: nothing is stored until there is room")
		}
		if again := left >= diskAgain && r.holds() != nil; again || time.Since(asked) >= writeEvery {
			asked = time.Now()
			r.checkWrites()
			if again {
				r.resume(ctx)
			}
		}
	})
}

func noRoom(left int64) error {
	return fmt.Errorf("%w: its disk has %d MB left: make room there, and podium goes on by itself", bus.ErrFull, left/1_000_000)
}

// checkWrites ends what the server answers no more.
func (r *room) checkWrites() {
	err := r.ledger.server.CheckWrites()
	if err == nil {
		return
	}
	trouble, _ := errors.AsType[*embedded.WriteError](err)
	reason := fmt.Errorf("%w; look at the disk, and start podium again", err)
	if trouble.Full {
		reason = fmt.Errorf("%w: its disk had no room for a message: make room there, and podium goes on by itself", bus.ErrFull)
	}
	if r.set(&r.failed, reason) {
		r.log.Error().Err(err).Msg("the ledger's server has met a disk that it cannot write: nothing is stored until it can")
	}
	r.ledger.Core.Abandon()
}

// resume goes on when there is room again. A server that has met a full disk is
// started again first: it does not go on by itself.
func (r *room) resume(ctx context.Context) {
	r.mu.Lock()
	full, failed, settled := r.full, r.failed, r.settled
	r.mu.Unlock()
	switch {
	case full == nil && failed == nil, settled:
		return
	case failed != nil && !errors.Is(failed, bus.ErrFull):
		return // it is no matter of room
	case failed != nil && time.Since(r.tried) < startEvery:
		return
	case failed != nil:
		r.tried = time.Now()
		r.log.Info().Msg("there is room again: the ledger's server is started again")
		if err := r.ledger.server.Restart(ctx); err != nil {
			r.log.Error().Err(err).Msg("the ledger's server does not start; trying again")
			if _, damaged := errors.AsType[*recovery.LossError](err); damaged {
				r.set(&r.failed, err) // no room mends that
			}
			return
		}
		r.set(&r.failed, nil)
	}
	if left, err := r.free(); err == nil && left >= diskAgain { // the start has taken its time
		r.set(&r.full, nil)
		r.log.Info().Int64("disk_free", left).Msg("the ledger's disk has room again: messages are stored")
	}
}

// lookForLoss compares the ledger with what was seen of it.
func (r *room) lookForLoss(ctx context.Context) {
	err := r.missing()
	if err == nil {
		err = r.ledger.Core.Verify(ctx)
	}
	lost := errors.Is(err, bus.ErrLost)
	if err != nil && !lost {
		return // it does not say
	}
	if r.set(&r.lost, err) {
		r.tellLoss(err)
	}
}

// missing looks for what was removed from under the server.
func (r *room) missing() error {
	if r.ledger.server == nil {
		return nil
	}
	err := r.ledger.server.CheckStreams(r.ledger.Core.Streams()...)
	if lost, ok := errors.AsType[*bus.LostError](err); ok {
		lost.Seen = r.ledger.Core.Seen(lost.Stream)
	}
	return err
}

func (r *room) tellLoss(lost error) {
	if lost != nil {
		r.log.Error().Err(lost).Msg("messages are lost: nothing is stored until they are back")
		return
	}
	r.log.Info().Msg("the ledger is whole again")
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.found)
	r.found = make(chan struct{})
}

// awaitFound looks whether the ledger has lost messages, and if so waits until they
// are back, or until ctx ends. It reports whether it had.
func (r *room) awaitFound(ctx context.Context) bool {
	r.lookForLoss(ctx)
	r.mu.Lock()
	lost, found := r.lost, r.found
	r.mu.Unlock()
	if lost == nil {
		return false
	}
	select {
	case <-found:
	case <-ctx.Done():
	}
	return true
}
