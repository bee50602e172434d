package lease

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/backoff"
)

const (
	// Time is how long a lease lasts without a sign of life. It is longer than the
	// election of a leader in a cluster takes.
	Time = 15 * time.Second
	// renewal is the time between two signs of life, and bounds the wait for each.
	renewal = 5 * time.Second
	look    = 500 * time.Millisecond // between two looks at a lease that is held
	retry   = time.Second            // after a sign of life that did not arrive
)

// A Lease is held until it is released or lost.
type Lease struct {
	store    bus.KeyValue
	self     Holder
	revision uint64
	log      zerolog.Logger

	stop  context.CancelFunc
	ended chan struct{} // nothing is renewed any more
	lost  error         // why, unless it was given back
}

// Take takes the lease for this process. While it watches a lease that another one
// has, it says so once. Errors: HeldError when the other one lives, temporary ones
// when the ledger does not answer, and the context's.
func Take(ctx context.Context, store bus.KeyValue, self Holder, say func(sentence string), log zerolog.Logger) (*Lease, error) {
	watching := &watch{self: self, say: say}
	for {
		holder, revision, err := read(ctx, store)
		if err != nil {
			return nil, err
		}
		lapsed, err := watching.lapsed(holder, revision)
		if err != nil {
			return nil, err
		}
		if lapsed {
			revision, err = write(ctx, store, self, revision)
			if err == nil {
				return keep(ctx, store, self, revision, log), nil
			}
			if !errors.Is(err, bus.ErrConflict) {
				return nil, err
			}
			continue // somebody was faster
		}
		if err := backoff.Pause(ctx, look); err != nil {
			return nil, err
		}
	}
}

// A watch is what was seen of a lease that another process has.
type watch struct {
	self     Holder
	say      func(string)
	revision uint64
	since    time.Time // when the revision was seen first
	seen     time.Time // when it was looked at last
}

// lapsed reports whether the lease may be taken. It has to be looked at all the
// while: a time in which the ledger, or this process, was away says nothing.
func (w *watch) lapsed(holder Holder, revision uint64) (bool, error) {
	now := time.Now()
	switch {
	case holder.free(w.self), holder.ID == w.self.ID:
		return true, nil
	case w.revision == 0:
		w.say("the ledger is held by " + holder.String() + "; it is taken over if that process gives no sign of life for " + Time.String())
		w.revision, w.since = revision, now
	case w.revision != revision:
		return false, &HeldError{Holder: holder}
	case now.Sub(w.seen) > renewal:
		w.since = now
	}
	w.seen = now
	return now.Sub(w.since) >= Time, nil
}

func keep(ctx context.Context, store bus.KeyValue, self Holder, revision uint64, log zerolog.Logger) *Lease {
	ctx = context.WithoutCancel(ctx) // it is kept while the process stops in order
	keeping, stop := context.WithCancel(ctx)
	l := &Lease{store: store, self: self, revision: revision, log: log, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		if l.lost = l.renew(keeping); l.lost == nil {
			l.giveBack(ctx)
		}
	}()
	return l
}

// renew gives signs of life until ctx ends, and returns nil, or until somebody else
// has the lease.
func (l *Lease) renew(ctx context.Context) error {
	said := false
	for wait := renewal; backoff.Pause(ctx, wait) == nil; {
		err := l.sign(ctx)
		if _, lost := errors.AsType[*LostError](err); lost {
			return err
		}
		wait = renewal
		if err != nil {
			wait = retry
		}
		if err != nil && !said && ctx.Err() == nil {
			l.log.Warn().Err(err).Msg("the lease of the ledger is not renewed; trying again")
		}
		said = err != nil
	}
	return nil
}

// giveBack says that the lease is free. When that does not arrive it lapses.
func (l *Lease) giveBack(ctx context.Context) {
	l.self.Released = true
	if err := l.sign(ctx); err != nil {
		l.log.Warn().Err(err).Msg("the lease of the ledger was not given back; it lapses by itself")
	}
}

// sign gives one sign of life. One whose answer was lost may have arrived: then the
// lease is this process's at another revision.
func (l *Lease) sign(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, renewal)
	defer stop()
	for {
		revision, err := write(ctx, l.store, l.self, l.revision)
		if err == nil {
			l.revision = revision
			return nil
		}
		if !errors.Is(err, bus.ErrConflict) {
			return err
		}
		holder, revision, err := read(ctx, l.store)
		if err != nil {
			return err
		}
		if revision > 0 && holder.ID != l.self.ID { // else an operator has removed it
			return &LostError{Holder: holder}
		}
		l.revision = revision
	}
}

// Check asks the ledger whether another process has the lease by now, and returns a
// LostError when it has.
func (l *Lease) Check(ctx context.Context) error {
	holder, revision, err := read(ctx, l.store)
	if err == nil && revision > 0 && holder.ID != l.self.ID {
		return &LostError{Holder: holder}
	}
	return nil
}

// Ended is closed when nothing renews the lease any more.
func (l *Lease) Ended() <-chan struct{} { return l.ended }

// Lost returns why the lease was lost, once it has ended; nil when it was released.
func (l *Lease) Lost() error {
	<-l.ended
	return l.lost
}

// Release gives the lease back, so that whoever comes next need not watch it, and
// returns when that is done or was not possible.
func (l *Lease) Release() {
	l.stop()
	<-l.ended
}
