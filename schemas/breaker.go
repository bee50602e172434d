package schemas

import "time"

// A Breaker is the circuit breaker of one agent, as all who ask that agent share
// it (M-28). The zero value is closed.
type Breaker struct {
	State BreakerState `json:"state,omitzero"` // closed when empty
	Since time.Time    `json:"since,omitzero"` // of that state
	// Until is, when it is open, the moment before which nobody asks the agent,
	// and when it is half open, the moment until which the probe is waited for.
	Until time.Time `json:"until,omitzero"`
	// Probe is, when it is half open, the message_id of the one request that may
	// go to the agent.
	Probe string `json:"probe,omitzero"`
	// Failures are, when it is closed, those in a row.
	Failures []BreakerFailure `json:"failures,omitzero"`
}

// A BreakerFailure is a request that came to nothing.
type BreakerFailure struct {
	Request string    `json:"request"` // that has failed, as AttemptOf has it
	At      time.Time `json:"at"`
}

// BreakerState is what a breaker lets through.
type BreakerState string

// The states of a breaker.
const (
	BreakerClosed   BreakerState = "closed"    // everything
	BreakerOpen     BreakerState = "open"      // nothing
	BreakerHalfOpen BreakerState = "half_open" // one request, which decides
)

// At returns the state at a moment: one whose time is over is half open, because
// the next request goes through.
func (b *Breaker) At(now time.Time) BreakerState {
	switch {
	case b.State == BreakerOpen && !now.Before(b.Until):
		return BreakerHalfOpen
	case b.State == "":
		return BreakerClosed
	}
	return b.State
}
