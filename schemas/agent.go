package schemas

import (
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// An Agent is one entry of the registry: what an agent says of itself, and what
// the core knows of it.
type Agent struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind,omitzero"`        // calculator, exec, …
	Description string         `json:"description,omitzero"` // English, one sentence
	Version     string         `json:"version,omitzero"`
	Kinds       []TaskKind     `json:"kinds,omitzero"`        // of requests that it answers; none is KindWork
	Concurrency int            `json:"concurrency,omitzero"`  // requests at a time, over all its processes
	InputSchema jsontext.Value `json:"input_schema,omitzero"` // of task.context.arguments
	SideEffects string         `json:"side_effects,omitzero"` // "external" when it reaches people or systems outside
	Profile     string         `json:"profile,omitzero"`      // of a supervisor: by which it has others do the work
	// Instance is the word by which a process proves that the agent is kept for it.
	// It is never in the registry.
	Instance  string    `json:"instance,omitzero"`
	Announced time.Time `json:"announced,omitzero"`
	LastSeen  time.Time `json:"last_seen,omitzero"`
	Breaker   *Breaker  `json:"breaker,omitzero"` // absent: it never mattered
}

const maxAgentName = 63 // bytes: a token of a subject

var (
	nameToken = regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)
	agentName = regexp.MustCompile(`^[0-9]*[a-z_-][a-z0-9_-]*$`)
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
