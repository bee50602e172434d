package schemas

import (
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// An Agent is one entry of the registry: what an agent says of itself, and what
// the core knows of it.
type Agent struct {
	Name         string         `json:"name"`
	Kind         string         `json:"kind,omitzero"`        // calculator, exec, …
	Description  string         `json:"description,omitzero"` // English, one sentence
	Version      string         `json:"version,omitzero"`
	Kinds        []RequestKind  `json:"kinds,omitzero"`         // of requests that it answers; none is KindWork
	Concurrency  int            `json:"concurrency,omitzero"`   // requests at a time, over all its processes
	InputSchema  jsontext.Value `json:"input_schema,omitzero"`  // of task.context.arguments
	OutputSchema jsontext.Value `json:"output_schema,omitzero"` // of result.data
	SideEffects  string         `json:"side_effects,omitzero"`  // "external" when it reaches people or systems outside
	Profile      string         `json:"profile,omitzero"`       // of a supervisor: by which it has others do the work
	Capabilities []Capability   `json:"capabilities,omitzero"`  // how well it can do what certain words ask for
	Examples     []AgentExample `json:"examples,omitzero"`      // tasks that it can do
	Input        string         `json:"input,omitzero"`         // what it works on: words, arguments or either
	Egress       []string       `json:"egress,omitzero"`        // where its calls may lead
	// ID tells the processes of an agent apart: a valid instance id. Empty is DefaultInstanceID.
	ID string `json:"id,omitzero"`
	// Health is what the process says of itself; absent: it is well, as far as it knows.
	Health *AgentHealth `json:"health,omitzero"`
	// Instance is the word by which a process proves that the agent is kept for it.
	// It is never in the registry.
	Instance  string    `json:"instance,omitzero"`
	Announced time.Time `json:"announced,omitzero"`
	LastSeen  time.Time `json:"last_seen,omitzero"`
	Breaker   *Breaker  `json:"breaker,omitzero"` // absent: it never mattered
}

// An AgentExample is a task that an agent can do.
type AgentExample struct {
	Words     string         `json:"words,omitzero"`     // that somebody might write
	Arguments jsontext.Value `json:"arguments,omitzero"` // that its input_schema takes
}

// An AgentHealth is why a process of an agent cannot do its work at present.
type AgentHealth struct {
	Problem string    `json:"problem"`
	Since   time.Time `json:"since,omitzero"`
	// Answers says that it is asked all the same: it says itself what is wrong, and what to do.
	Answers bool `json:"answers,omitzero"`
}

// An Alive is a sign of life of one process of an agent.
type Alive struct {
	ID       string `json:"id,omitzero"`       // as in its announcement
	Instance string `json:"instance,omitzero"` // likewise
	// Problem is why it cannot do its work at present; empty when it can.
	Problem string `json:"problem,omitzero"`
	// Answers says that it is asked all the same, and says that itself.
	Answers bool `json:"answers,omitzero"`
	// Leaving says that the process ends.
	Leaving bool `json:"leaving,omitzero"`
}

// DefaultInstanceID is the id of a process that names none.
const DefaultInstanceID = "0"

// A Revocation takes an agent's leave to take part.
type Revocation struct {
	At     time.Time        `json:"at"`
	Reason RevocationReason `json:"reason"`
	Key    string           `json:"key,omitzero"` // public half of the key that it had
}

// RevocationReason says why an agent was revoked.
type RevocationReason string

// The reasons of revocations.
const (
	RevokedByOperator RevocationReason = "operator" // somebody has told so
	RevokedForFlood   RevocationReason = "flood"    // it has sent without end what nobody has asked for, or nobody can read
)

// AgentState is how an agent is.
type AgentState string

// The states of an agent, of which the first that holds is told.
const (
	AgentRevoked  AgentState = "revoked"  // it may not take part any more
	AgentFailing  AgentState = "failing"  // its circuit breaker is open: it has failed too often
	AgentNever    AgentState = "never"    // none of its processes has ever announced itself or taken a request
	AgentLate     AgentState = "late"     // nobody serves it, since more than three heartbeats
	AgentDegraded AgentState = "degraded" // whoever serves it cannot do the work at present, by its own word
	AgentOK       AgentState = "ok"
)

const maxAgentName = 63 // bytes: a token of a subject

var (
	nameToken = regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)
	agentName = regexp.MustCompile(`^[0-9]*[a-z_-][a-z0-9_-]*$`)
	instance  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// ValidToken reports whether name can stand as one token of a subject and in a file
// name: the name of an adapter, a profile, a channel.
func ValidToken(name string) bool { return nameToken.MatchString(name) }

// ValidAgentName reports whether name can be an agent's: a valid token that is not of
// digits only. Such a one could be taken for a number in a subject of the server's own,
// as in those of acknowledgements.
func ValidAgentName(name string) bool {
	return len(name) <= maxAgentName && agentName.MatchString(name)
}

// ValidInstanceID reports whether id can tell a process of an agent from the others.
func ValidInstanceID(id string) bool { return instance.MatchString(id) }

// A Capability is how well an agent can do what certain words ask for, as it says
// itself.
type Capability struct {
	Words []Keyword `json:"words"` // one of them is enough; Shared has no meaning here
	Score float64   `json:"score"` // 0–1
}

// Declared returns the assessment of an agent that declares its capabilities
// instead of being asked (P-06): the highest score of those that are found, which
// are named by their index. Spoken is false when none is: then the agent counts as
// silent (P-09).
func Declared(capabilities []Capability, found func(capability int) bool) (score float64, spoken bool) {
	for i := range capabilities {
		if found(i) {
			score, spoken = max(score, capabilities[i].Score), true
		}
	}
	return score, spoken
}

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
	// Asked says that the probe is on its way: whoever has only claimed it cannot give it back.
	Asked bool `json:"asked,omitzero"`
	// Failures are, when it is closed, those in a row.
	Failures []BreakerFailure `json:"failures,omitzero"`
	// Opened is, unless it is closed, the failure that has opened it; its detail stands in the run of that request.
	Opened *BreakerFailure `json:"opened,omitzero"`
	// Reset is who has closed it by hand, until it changes again.
	Reset *BreakerReset `json:"reset,omitzero"`
}

// A BreakerReset says that a person has closed a breaker, whatever its agent does.
type BreakerReset struct {
	By     string `json:"by"`          // the user of the operating system
	As     string `json:"as,omitzero"` // the person of the configuration for whom they say it, as they claim
	Reason string `json:"reason,omitzero"`
}

// A BreakerFailure is a request that came to nothing.
type BreakerFailure struct {
	Request string    `json:"request"` // that has failed, as AttemptKey has it
	At      time.Time `json:"at"`
	Cause   string    `json:"cause,omitzero"` // a FailureKind
	Run     string    `json:"run,omitzero"`   // id of the run
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
