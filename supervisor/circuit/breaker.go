// Package circuit is the circuit breaker of an agent: after some failures in a row it is not asked any more, until a probe shows that it answers again (M-28). It is pure:
// what a breaker is stands in the ledger (schemas.Breaker), and all who ask share it.
package circuit

import (
	"time"

	"podium/schemas"
	"podium/schemas/fault"
)

// A Policy says when an agent is not asked any more, and when it is tried
// again (M-28). The zero policy never refuses.
type Policy struct {
	Failures int           // in a row open the breaker; 0 never does
	Within   time.Duration // the time in which they fall
	Open     time.Duration // how long nobody asks; then one probe decides
}

// The defaults of a Policy.
const (
	DefaultFailures = 5
	DefaultWithin   = 30 * time.Second
	DefaultOpen     = 30 * time.Second
)

// An Event is something that changes a breaker.
type Event struct {
	Kind    EventKind
	Request string // that it is about, as schemas.AttemptKey has it
	At      time.Time
	Until   time.Time // Dispatched: when the request expires
	// Cause and Run are those of Failed.
	Cause schemas.FailureKind
	Run   string
}

func (e *Event) failure() schemas.BreakerFailure {
	return schemas.BreakerFailure{Request: e.Request, At: e.At, Cause: string(e.Cause), Run: e.Run}
}

// EventKind is what has happened.
type EventKind string

// The kinds of Event.
const (
	Failed    EventKind = "failed"
	Succeeded EventKind = "succeeded"
	// Ended: the request says nothing of its agent: it was cancelled, or the
	// agent has refused it with reason, or had no room for it.
	Ended EventKind = "ended"
	// Released: a claim is given back, by somebody who knows of no such request. Another owner may have made it.
	Released EventKind = "released"
	// ProbeClaimed: the request would be the probe.
	ProbeClaimed EventKind = "claimed"
	// Dispatched: the request is on its way.
	Dispatched EventKind = "asked"
)

// EventOf returns what a fact about a request that was under way says of
// its agent; false is nothing.
func EventOf(f schemas.Fact) (EventKind, bool) {
	switch f := f.(type) {
	case *schemas.TaskCompleted:
		return Succeeded, true
	case *schemas.TaskCancelled, *schemas.InquiryOpened:
		return Ended, true
	case *schemas.TaskFailed:
		return eventOfFailure(f), true
	default:
		return "", false
	}
}

func eventOfFailure(f *schemas.TaskFailed) EventKind {
	if f.Category == schemas.CategoryResource {
		return Ended
	}
	switch f.Cause {
	case schemas.FailureTimeout, schemas.FailureNotStarted, schemas.FailureAgent, schemas.FailureInvalidResult, schemas.FailureCrashed,
		schemas.FailureMalformed:
		return Failed
	case schemas.FailurePermanent, schemas.FailureBlocked, schemas.FailureUnknownEffect,
		schemas.FailureUnavailable, schemas.FailureNoRoute, schemas.FailureArguments, schemas.FailureRejected, schemas.FailureUnapproved,
		schemas.FailureVerdict, schemas.FailureConflict, schemas.FailureBudget:
	}
	return Ended
}

// Change returns a breaker after some events, and whether that is another one.
// Every owner tells what it has seen, in any order, and possibly twice: each event
// carries its moment and its request.
func (p Policy) Change(b schemas.Breaker, events ...Event) (schemas.Breaker, bool) {
	changed := false
	for i := range events {
		next, other := p.change(b, &events[i])
		b, changed = next, changed || other
	}
	return b, changed
}

func (p Policy) change(b schemas.Breaker, e *Event) (schemas.Breaker, bool) {
	if p.Failures <= 0 {
		return b, false
	}
	switch b.State {
	case schemas.BreakerOpen:
		return p.changeOpen(b, e)
	case schemas.BreakerHalfOpen:
		if e.Kind == ProbeClaimed {
			return p.changeOpen(b, e)
		}
		return p.changeHalfOpen(b, e)
	case schemas.BreakerClosed:
	}
	return p.changeClosed(b, e)
}

// changeClosed counts failures in a row. A success in between ends the row: an
// agent that does most of its work is not down, however much of it there is.
func (p Policy) changeClosed(b schemas.Breaker, e *Event) (schemas.Breaker, bool) {
	switch e.Kind {
	case Failed:
		for i := range b.Failures {
			if b.Failures[i].Request == e.Request {
				return b, false // it is counted already
			}
		}
		b.Reset = nil
		b.Failures = append(after(b.Failures, e.At.Add(-p.Within)), e.failure())
		if len(b.Failures) >= p.Failures {
			return p.open(e), true
		}
		return b, true
	case Succeeded:
		before := len(b.Failures)
		b.Failures = after(b.Failures, e.At)
		return b, len(b.Failures) < before
	case Ended, Released, ProbeClaimed, Dispatched:
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

func (p Policy) open(e *Event) schemas.Breaker {
	opened := e.failure()
	return schemas.Breaker{State: schemas.BreakerOpen, Since: e.At, Until: e.At.Add(p.Open), Opened: &opened}
}

// changeOpen lets the first who claims it after its time have the probe. The ends
// of requests that were made before say nothing about now.
func (p Policy) changeOpen(b schemas.Breaker, e *Event) (schemas.Breaker, bool) {
	if e.Kind != ProbeClaimed || e.At.Before(b.Until) && !(b.State == schemas.BreakerHalfOpen && fault.Is("a probe is given away twice")) {
		return b, false
	}
	return schemas.Breaker{State: schemas.BreakerHalfOpen, Since: e.At, Until: e.At.Add(p.Open), Probe: e.Request, Opened: b.Opened}, true
}

// changeHalfOpen has the probe decide, and nothing else.
func (p Policy) changeHalfOpen(b schemas.Breaker, e *Event) (schemas.Breaker, bool) {
	if e.Request != b.Probe {
		return b, false
	}
	switch e.Kind {
	case Succeeded:
		return schemas.Breaker{State: schemas.BreakerClosed, Since: e.At}, true
	case Failed:
		return p.open(e), true
	case Released:
		if b.Asked {
			return b, false
		}
		return schemas.Breaker{State: schemas.BreakerOpen, Since: e.At, Until: e.At, Opened: b.Opened}, true
	case Ended:
		return schemas.Breaker{State: schemas.BreakerOpen, Since: e.At, Until: e.At, Opened: b.Opened}, true
	case Dispatched:
		changed := e.Until.After(b.Until) || !b.Asked
		if b.Asked = true; e.Until.After(b.Until) {
			b.Until = e.Until
		}
		return b, changed
	case ProbeClaimed:
	}
	return b, false
}

// A Verdict is what a breaker says to a request.
type Verdict int

// The verdicts.
const (
	Allow   Verdict = iota
	Deny            // it is refused
	Probing         // it may go if its claim to be the probe holds
)

// Blocks reports whether a breaker lets nobody pass but a probe.
func Blocks(b *schemas.Breaker) bool {
	return b.State == schemas.BreakerOpen || b.State == schemas.BreakerHalfOpen
}

// Verdict returns what a breaker says to a request at a moment. A request that
// has no id yet cannot be the probe.
func (p Policy) Verdict(b *schemas.Breaker, request string, now time.Time) Verdict {
	switch {
	case p.Failures <= 0 || !Blocks(b):
		return Allow
	case b.State == schemas.BreakerHalfOpen && (request != "" && request == b.Probe || fault.Is("everybody is the probe")) && now.Before(b.Until):
		return Allow
	case now.Before(b.Until):
		return Deny
	}
	return Probing
}
