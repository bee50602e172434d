package schemas

import "time"

// A Quarantined is a message that could not be used, with its bytes.
type Quarantined struct {
	Reason   QuarantineReason    `json:"reason"`
	Detail   string              `json:"detail"`            // English: what is wrong and what would be right
	Subject  string              `json:"subject"`           // where it stood
	Stream   string              `json:"stream"`            // in which stream
	Sequence uint64              `json:"sequence"`          // and at which sequence
	Received time.Time           `json:"received"`          // when the stream took it
	Headers  map[string][]string `json:"headers,omitzero"`  // as received
	Body     []byte              `json:"body,omitzero"`     // as received, base64
	Artifact *Artifact           `json:"artifact,omitzero"` // when the body is too large to stand here
}

// QuarantineReason is why a message could not be used; it is a token of the subject.
type QuarantineReason string

// The quarantine reasons.
const (
	QuarantineMalformed  QuarantineReason = "malformed"   // does not validate against its schema
	QuarantineWrongAgent QuarantineReason = "wrong_agent" // answers a request made to another agent
	QuarantineUnknownRun QuarantineReason = "unknown_run" // answers a request that nobody made
	QuarantineUnroutable QuarantineReason = "unroutable"  // belongs to no profile or session
	QuarantineUnproven   QuarantineReason = "unproven"    // refers to a body that its agent has not shown to be its own
	QuarantineDamaged    QuarantineReason = "damaged"     // is for a session of which the ledger has lost something
)
