// Package eventloop has one goroutine do one thing after the other: what has come of
// operations that wait for the ledger, and what is due at a moment. Whoever uses it takes
// the moment as an argument and never waits, so that a simulation repeats exactly.
package eventloop

import (
	"sync"
	"time"

	"podium/bus/backoff"
)

// A Loop keeps what is to be done. Post and Start may be called by any goroutine, all else
// by the one that calls Turn.
type Loop struct {
	run    func(operation func())
	timers timers

	mu         sync.Mutex
	posted     []func(now time.Time)
	wake       chan struct{}
	operations sync.WaitGroup
}

// New returns a loop whose operations are begun by run. Nil starts a goroutine for each,
// for which Wait waits.
func New(run func(operation func())) *Loop {
	l := &Loop{run: run, wake: make(chan struct{}, 1)}
	if run == nil {
		l.run = l.operations.Go
	}
	return l
}

// Wake receives a value when Turn has something to do.
func (l *Loop) Wake() <-chan struct{} { return l.wake }

// Wait returns when no operation that the loop has begun by itself is under way.
func (l *Loop) Wait() { l.operations.Wait() }

// Post has the next Turn call a function.
func (l *Loop) Post(do func(now time.Time)) {
	l.mu.Lock()
	l.posted = append(l.posted, do)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Start begins an operation that may wait, and hands its outcome to a later Turn.
func (l *Loop) Start(operation func() error, done func(now time.Time, err error)) {
	l.run(func() {
		err := operation()
		l.Post(func(now time.Time) { done(now, err) })
	})
}

// StartResult is Start for an operation that has a result.
func StartResult[T any](l *Loop, operation func() (T, error), done func(now time.Time, result T, err error)) {
	l.run(func() {
		result, err := operation()
		l.Post(func(now time.Time) { done(now, result, err) })
	})
}

// Turn does what was posted, then what is due, and reports whether there was anything.
func (l *Loop) Turn(now time.Time) bool {
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, do := range posted {
		do(now)
	}
	return l.timers.expire(now) || len(posted) > 0
}

// Next returns the moment at which the next timer is due.
func (l *Loop) Next() (time.Time, bool) { return l.timers.next() }

// At has a Turn call a function once a moment has come: in the order of the moments, and
// of one moment in the order of the calls.
func (l *Loop) At(at time.Time, do func(now time.Time)) *Timer { return l.timers.add(at, do) }

// Stop takes a timer back, so that it keeps nothing in memory until its time. Nil, and one
// that has expired, are no mistake.
func (l *Loop) Stop(timer *Timer) { l.timers.stop(timer) }

// A Backoff is the wait after the first of several temporary errors in a row.
type Backoff time.Duration

// After returns the wait after the n-th error; the first is 0. It doubles up to 128 times
// the first. No chance has a part in it, so that a simulation runs the same again.
func (b Backoff) After(n int) time.Duration {
	return backoff.After(time.Duration(b), 128*time.Duration(b), n)
}
