package plan

import (
	"time"

	"podium/schemas"
)

// A BreakerPolicy says when an agent is not asked any more, and when it is tried
// again (M-28). The zero policy never refuses.
type BreakerPolicy struct {
	Failures int           // in a row open the breaker; 0 never does
	Within   time.Duration // the time in which they fall
	Open     time.Duration // how long nobody asks; then one probe decides
}

// The defaults of a BreakerPolicy.
const (
	DefaultBreakerFailures = 5
	DefaultBreakerWithin   = 30 * time.Second
	DefaultBreakerOpen     = 30 * time.Second
)

// A BreakerEvent is something that changes a breaker.
type BreakerEvent struct {
	Kind    BreakerEventKind
	Request string // that it is about, as schemas.AttemptKey has it
	At      time.Time
	Until   time.Time // BreakerDispatched: when the request expires
}

// BreakerEventKind is what has happened.
type BreakerEventKind string

// The kinds of BreakerEvent.
const (
	BreakerFailed    BreakerEventKind = "failed"
	BreakerSucceeded BreakerEventKind = "succeeded"
	// BreakerEnded: the request says nothing of its agent: it was cancelled, or the
	// agent has refused it with reason, or had no room for it.
	BreakerEnded BreakerEventKind = "ended"
	// BreakerProbeClaimed: the request would be the probe.
	BreakerProbeClaimed BreakerEventKind = "claimed"
	// BreakerDispatched: the request is on its way.
	BreakerDispatched BreakerEventKind = "asked"
)

// BreakerEventOf returns what a fact about a request that was under way says of
// its agent; false is nothing.
func BreakerEventOf(f schemas.Fact) (BreakerEventKind, bool) {
	switch f := f.(type) {
	case *schemas.TaskCompleted:
		return BreakerSucceeded, true
	case *schemas.TaskCancelled, *schemas.InquiryOpened:
		return BreakerEnded, true
	case *schemas.TaskFailed:
		return breakerEventOfFailure(f), true
	default:
		return "", false
	}
}

func breakerEventOfFailure(f *schemas.TaskFailed) BreakerEventKind {
	if f.Category == schemas.CategoryResource {
		return BreakerEnded
	}
	switch f.Cause {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult, schemas.FailureCrashed,
		schemas.FailureMalformed:
		return BreakerFailed
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureUnknownEffect,
		schemas.FailureUnavailable, schemas.FailureNoRoute, schemas.FailureArguments, schemas.FailureRejected, schemas.FailureUnapproved,
		schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return BreakerEnded
}

// Change returns a breaker after some events, and whether that is another one.
// Every owner tells what it has seen, in any order, and possibly twice: each event
// carries its moment and its request.
func (p BreakerPolicy) Change(b schemas.Breaker, events ...BreakerEvent) (schemas.Breaker, bool) {
	changed := false
	for i := range events {
		next, other := p.change(b, &events[i])
		b, changed = next, changed || other
	}
	return b, changed
}

func (p BreakerPolicy) change(b schemas.Breaker, e *BreakerEvent) (schemas.Breaker, bool) {
	if p.Failures <= 0 {
		return b, false
	}
	switch b.State {
	case schemas.BreakerOpen:
		return p.changeOpen(b, e)
	case schemas.BreakerHalfOpen:
		if e.Kind == BreakerProbeClaimed {
			return p.changeOpen(b, e)
		}
		return p.changeHalfOpen(b, e)
	case schemas.BreakerClosed:
	}
	return p.changeClosed(b, e)
}

// changeClosed counts failures in a row. A success in between ends the row: an
// agent that does most of its work is not down, however much of it there is.
func (p BreakerPolicy) changeClosed(b schemas.Breaker, e *BreakerEvent) (schemas.Breaker, bool) {
	switch e.Kind {
	case BreakerFailed:
		for i := range b.Failures {
			if b.Failures[i].Request == e.Request {
				return b, false // it is counted already
			}
		}
		b.Failures = append(after(b.Failures, e.At.Add(-p.Within)), schemas.BreakerFailure{Request: e.Request, At: e.At})
		if len(b.Failures) >= p.Failures {
			return p.open(e.At), true
		}
		return b, true
	case BreakerSucceeded:
		before := len(b.Failures)
		b.Failures = after(b.Failures, e.At)
		return b, len(b.Failures) < before
	case BreakerEnded, BreakerProbeClaimed, BreakerDispatched:
	}
	return b, false
}

// after returns the failures behind a moment.
func after(failures []schemas.BreakerFailure, moment time.Time) []schemas.BreakerFailure {
	var kept []schemas.BreakerFailure
	for _, failure := range failures {
		if failure.At.After(moment) {
			kept = append(kept, failure)
		}
	}
	return kept
}

func (p BreakerPolicy) open(at time.Time) schemas.Breaker {
	return schemas.Breaker{State: schemas.BreakerOpen, Since: at, Until: at.Add(p.Open)}
}

// changeOpen lets the first who claims it after its time have the probe. The ends
// of requests that were made before say nothing about now.
func (p BreakerPolicy) changeOpen(b schemas.Breaker, e *BreakerEvent) (schemas.Breaker, bool) {
	if e.Kind != BreakerProbeClaimed || e.At.Before(b.Until) {
		return b, false
	}
	return schemas.Breaker{State: schemas.BreakerHalfOpen, Since: e.At, Until: e.At.Add(p.Open), Probe: e.Request}, true
}

// changeHalfOpen has the probe decide, and nothing else.
func (p BreakerPolicy) changeHalfOpen(b schemas.Breaker, e *BreakerEvent) (schemas.Breaker, bool) {
	if e.Request != b.Probe {
		return b, false
	}
	switch e.Kind {
	case BreakerSucceeded:
		return schemas.Breaker{State: schemas.BreakerClosed, Since: e.At}, true
	case BreakerFailed:
		return p.open(e.At), true
	case BreakerEnded:
		return schemas.Breaker{State: schemas.BreakerOpen, Since: e.At, Until: e.At}, true
	case BreakerDispatched:
		changed := e.Until.After(b.Until)
		if changed {
			b.Until = e.Until
		}
		return b, changed
	case BreakerProbeClaimed:
	}
	return b, false
}

// A BreakerVerdict is what a breaker says to a request.
type BreakerVerdict int

// The verdicts.
const (
	VerdictAllow   BreakerVerdict = iota
	VerdictDeny                   // it is refused
	VerdictProbing                // it may go if its claim to be the probe holds
)

// BreakerBlocks reports whether a breaker lets nobody pass but a probe.
func BreakerBlocks(b *schemas.Breaker) bool {
	return b.State == schemas.BreakerOpen || b.State == schemas.BreakerHalfOpen
}

// Verdict returns what a breaker says to a request at a moment. A request that
// has no id yet cannot be the probe.
func (p BreakerPolicy) Verdict(b *schemas.Breaker, request string, now time.Time) BreakerVerdict {
	switch {
	case p.Failures <= 0 || !BreakerBlocks(b):
		return VerdictAllow
	case b.State == schemas.BreakerHalfOpen && request != "" && request == b.Probe && now.Before(b.Until):
		return VerdictAllow
	case now.Before(b.Until):
		return VerdictDeny
	}
	return VerdictProbing
}
