package bus

import (
	"fmt"
	"strconv"
	"strings"

	"podium/schemas"
)

// The streams and buckets of a ledger.
const (
	WorkStream        = "PODIUM_WORK"
	AgentBucket       = "PODIUM_AGENTS"
	MailboxBucket     = "PODIUM_MAILBOXES"
	LeaseBucket       = "PODIUM_LEASES"
	BudgetBucket      = "PODIUM_BUDGETS"
	ArtifactBucket    = "PODIUM_ARTIFACTS"
	ArtifactStream    = "OBJ_" + ArtifactBucket // what holds the bytes of the artifacts
	ShardStreamPrefix = "PODIUM_"               // of the name of every shard's stream; the number follows
)

// ShardStream returns the name of a shard's stream.
func ShardStream(shard int) string { return ShardStreamPrefix + strconv.Itoa(shard) }

// ShardSubjects returns every subject of a shard's stream.
func ShardSubjects(shard int) []string {
	p := strconv.Itoa(shard)
	return append(InputSubjects(shard), "podium.session."+p+".*", "podium.shard."+p, "podium.dead.*."+p)
}

// InputSubjects returns the subjects that a shard's owner reads.
func InputSubjects(shard int) []string {
	p := strconv.Itoa(shard)
	return []string{
		"podium.in.*." + p,
		"podium.agent.*.response." + p,
		"podium.agent.*.progress." + p,
		"podium.agent.*.permit." + p,
		"podium.control." + p,
	}
}

// WorkSubjects returns every subject of the work stream.
func WorkSubjects() []string {
	return []string{"podium.agent.*.request", "podium.agent.*.response", "podium.agent.*.progress"}
}

// InSubject is where an adapter publishes.
func InSubject(adapter string, shard int) string {
	return "podium.in." + adapter + "." + strconv.Itoa(shard)
}

// SourceSubject is where an adapter says how it is, to whoever listens; nothing is stored.
func SourceSubject(adapter string) string { return "podium.source." + adapter + ".status" }

// RequestSubject is where the requests to an agent stand.
func RequestSubject(agent string) string { return "podium.agent." + agent + ".request" }

// ResponseSubject is where an agent answers the requests of a shard.
func ResponseSubject(agent string, shard int) string {
	return "podium.agent." + agent + ".response." + strconv.Itoa(shard)
}

// ProgressSubject is where an agent reports progress to a shard.
func ProgressSubject(agent string, shard int) string {
	return "podium.agent." + agent + ".progress." + strconv.Itoa(shard)
}

// PermitSubject is where an agent asks the owner of a shard for permission to act outside.
func PermitSubject(agent string, shard int) string {
	return "podium.agent." + agent + ".permit." + strconv.Itoa(shard)
}

// ControlSubject is where a person's word to a shard goes.
func ControlSubject(shard int) string { return "podium.control." + strconv.Itoa(shard) }

// SessionSubject holds the records of a session.
func SessionSubject(session string, shards int) string {
	return "podium.session." + strconv.Itoa(schemas.ShardOf(session, shards)) + "." + session
}

// ShardSubject holds the checkpoints of a shard.
func ShardSubject(shard int) string { return "podium.shard." + strconv.Itoa(shard) }

// QuarantineSubject is the quarantine of a shard.
func QuarantineSubject(reason schemas.QuarantineReason, shard int) string {
	return "podium.dead." + string(reason) + "." + strconv.Itoa(shard)
}

// The core services of an agent, by request and reply, never stored.
const (
	ServiceAnnounce = "announce"  // body: schemas.Agent
	ServiceAlive    = "alive"     // body: schemas.Agent.Instance of the announcement, which may be empty
	ServiceArtifact = "artifact"  // see artifactFrame
	ServicePartial  = "partial"   // body: schemas.Partial
	SignalCancel    = "cancel"    // body: the request's id; a hint
	SignalPermitted = "permitted" // body: schemas.PermitAnswer; it may be missed
)

// ServiceSubject is where an agent asks a core service; an agent of "*" is every agent.
func ServiceSubject(agent, service string) string { return "podium.agent." + agent + "." + service }

// Kind says what a subject carries.
type Kind string

// The kinds of subject.
const (
	KindIn         Kind = "in"
	KindRequest    Kind = "request"
	KindResponse   Kind = "response"
	KindProgress   Kind = "progress"
	KindPermit     Kind = "permit"
	KindControl    Kind = "control"
	KindSession    Kind = "session"
	KindShard      Kind = "shard"
	KindQuarantine Kind = "dead"
)

// A Subject is a parsed subject. Whose message it is, is decided by Agent, never by the body.
type Subject struct {
	Kind    Kind
	Agent   string // request, response, progress, permit
	Adapter string // in
	Session string // session
	Reason  string // dead
	Shard   int    // -1 when the subject names none
}

// ParseSubject reads a subject of the table in doc.go.
func ParseSubject(subject string) (Subject, error) {
	tokens := strings.Split(subject, ".")
	unknown := func() error { return fmt.Errorf("subject %q is not one of Podium's", subject) }
	if len(tokens) < 3 || tokens[0] != "podium" {
		return Subject{}, unknown()
	}
	parsed := Subject{Kind: Kind(tokens[1]), Shard: -1}
	last := tokens[len(tokens)-1]
	switch {
	case tokens[1] == "in" && len(tokens) == 4:
		parsed.Adapter = tokens[2]
	case tokens[1] == "dead" && len(tokens) == 4:
		parsed.Reason = tokens[2]
	case tokens[1] == "session" && len(tokens) == 4:
		parsed.Session, last = tokens[3], tokens[2]
	case (tokens[1] == "control" || tokens[1] == "shard") && len(tokens) == 3:
	case tokens[1] == "agent" && (len(tokens) == 4 || len(tokens) == 5):
		parsed.Agent, parsed.Kind = tokens[2], Kind(tokens[3])
		if len(tokens) == 4 {
			return parsed, nil
		}
	default:
		return Subject{}, unknown()
	}
	shard, err := strconv.ParseUint(last, 10, 16)
	if err != nil {
		return Subject{}, unknown()
	}
	parsed.Shard = int(shard)
	return parsed, nil
}
