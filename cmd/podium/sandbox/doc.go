// Package sandbox holds one agent, in whatever language it is written, to what is expected
// of every agent: [Check] runs it on a ledger of its own, which is gone afterwards, by the
// checks of package conformance.
//
// Nothing of an installation is read or touched. The agent reaches the ledger over a link
// that can be cut, and by the gate that external agents publish by, which sees all that it
// says. What the server does not permit it is noticed.
package sandbox

import (
	"time"

	"podium/schemas"
)

// A Config says which agent is checked, and what is known of it.
type Config struct {
	Agent string
	// Command starts it. Without one somebody is told by Waiting how to, and does so.
	Command []string
	Waiting func(environment []string)
	// Words are what is asked of it, and SlowWords what takes it long; these may be empty.
	Words, SlowWords string
	// Arguments go with the words, in turn. Without any they are made up for its input schema.
	Arguments [][]byte
	// What is known of it beside what it announces: requests at a time (0 is not known), the heartbeat that it
	// promises (0 promises none), that it acts outside, the kinds that it answers, and the schemas of its arguments and its data.
	Concurrency  int
	Heartbeat    time.Duration
	External     bool
	Kinds        []schemas.RequestKind
	InputSchema  []byte
	OutputSchema []byte
	// Patience bounds the wait for an answer to what is no long work.
	Patience time.Duration
	// Only names the checks that it is held to; none are all of them.
	Only []string
}

// Verdict is what came of a check.
type Verdict string

// The verdicts.
const (
	Passed     Verdict = "passed"
	Failed     Verdict = "failed"
	NotChecked Verdict = "not_checked"
)

// A Result is what came of one check.
type Result struct {
	Check   string  `json:"check"`
	Result  Verdict `json:"result"`
	Asks    string  `json:"asks"`          // what it asks of the agent
	Why     string  `json:"why,omitzero"`  // unless it has passed
	Do      string  `json:"do,omitzero"`   // when it has failed: what to do
	Says    string  `json:"says,omitzero"` // when it has failed: what the program has written last
	Seconds float64 `json:"seconds"`
}
