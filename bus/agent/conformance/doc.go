// Package conformance is what is expected of every agent, as a list of checks that any
// ledger can be laid under: [Checks] lists them, [Check.Run] holds one agent to one of
// them. Those in Go are held to them by bustest.TestHandler, and any other by `podium agent check`.
//
// A check sees of the agent what its messages and the ledger show. It knows nothing of
// the language that the agent is written in, nor of what the agent is for.
package conformance

import (
	"context"
	"errors"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/schemas/validation"
)

// Scope says which agents a check is for.
type Scope int

// The scopes.
const (
	Everywhere Scope = iota
	Handlers         // only those that agent.Serve runs in this process: it promises more than the wire asks for
	Programs         // only those in a process of their own, by a Stage with a Program
)

// A Check is one thing that an agent has to do.
type Check struct {
	Name  string // its words with hyphens
	Asks  string // what the agent has to do, in one sentence
	Mend  string // what to do when it does not
	Scope Scope
	run   func(ctx context.Context, x *exchange) error
}

// A NotChecked is why a check says nothing of an agent.
type NotChecked struct{ Reason string }

func (e *NotChecked) Error() string { return e.Reason }

// A Stage is an agent at work on a ledger, which answers its services. Checks run on it
// one after the other.
type Stage struct {
	Core  bus.Core // with two shards at least
	Agent string
	// Task returns the n-th task of those that the agent completes.
	Task func(n int) schemas.Task
	// Kinds are those that the agent declares; work when there are none.
	Kinds []schemas.RequestKind
	// Program is there for an agent in a process of its own, whatever it is written in.
	Program *Program

	nonce string // keeps the ids of its requests apart from those of every other stage
	asked int
	made  map[string]bool // the message_ids of its requests
	long  *longWork       // what was seen of it; nil when nobody has looked
}

// A Program is what is known of an agent in a process of its own, and what can be done to it.
type Program struct {
	Process Process
	// Slow returns the n-th task of those that take it long; nil when none is known.
	Slow        func(n int) schemas.Task
	Concurrency int           // requests at a time
	Heartbeat   time.Duration // the longest time without progress that it promises; 0 promises nothing
	External    bool          // it reaches people or systems outside
	Output      *validation.Schema
	// Patience bounds the wait for an answer to what is no long work.
	Patience time.Duration
	AckWait  time.Duration // that its pool is declared with
}

// A Process is an agent's process and its connection.
type Process interface {
	// Ended is closed when the process has ended, unless it was told to.
	Ended() <-chan struct{}
	// Cut breaks its connections. New ones are taken.
	Cut()
	// RefuseNext has the next answer that it publishes refused for now. Refused reports whether
	// one was.
	RefuseNext() (refused func() bool)
	// Violations are what it has tried without being permitted to, one sentence each.
	Violations() []string
	// End tells the process to end and waits until it has; ErrNotOurs when somebody else runs it.
	End(ctx context.Context) error
	// Start starts the process again after End, and waits until it takes requests.
	Start(ctx context.Context) error
}

// ErrNotOurs reports a process that somebody else runs.
var ErrNotOurs = errors.New("the process is run by somebody else")

// Checks returns those for every agent and those of a scope, in the order in which they
// are to be run.
func Checks(scope Scope) []Check {
	var chosen []Check
	for _, check := range all() {
		if check.Scope == Everywhere || check.Scope == scope {
			chosen = append(chosen, check)
		}
	}
	return chosen
}

// Run holds an agent to the check. Nil is that it does what the check asks for; a
// *NotChecked is that nothing can be said. Whatever else is returned is what the agent
// does instead, in one sentence for whoever writes it.
func (c Check) Run(ctx context.Context, s *Stage) error {
	x, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	err = c.run(ctx, x)
	return errors.Join(err, end())
}
