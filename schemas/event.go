package schemas

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The CloudEvents types of everything that travels on the bus.
const (
	TypeExecutionRequest  = "podium.execution_request.v1"
	TypeExecutionResponse = "podium.execution_response.v1"
	TypeProgressUpdate    = "podium.progress_update.v1"
	TypePermitRequest     = "podium.permit_request.v1"
	TypeEmailReceived     = "podium.email.received.v1"
	TypeChatReceived      = "podium.chat.received.v1"
	TypeControl           = "podium.control.v1"
	TypeQuarantined       = "podium.quarantined.v1"
	TypeSourceStatus      = "podium.source.status.v1"
	TypeRecord            = "podium.record.v1"
	TypeCheckpoint        = "podium.checkpoint.v1"
)

// MediaTypeJSON is the content type of every documented message.
const MediaTypeJSON = "application/json"

// An Event is one CloudEvent 1.0 with Podium's extension attributes as fields.
// The zero value of a field means that the attribute is absent.
type Event struct {
	ID              string    // id: unique within Source; message_id of the three documented messages
	Source          string    // source: "/podium/<from>" or a URI reference of the adapter
	Type            string    // type
	Subject         string    // subject: "<run>/<task>" once a run exists
	Time            time.Time // time: when it happened, as its author says
	DataContentType string    // datacontenttype
	DataSchema      string    // dataschema

	PartitionKey  string    // partitionkey: the thread or chat, as the message names it
	SessionID     string    // sessionid: the session that a mail answers, as its adapter has proved (TypeEmailReceived only)
	Profile       string    // profile: the profile of the source it came in by
	CorrelationID string    // correlationid: the run
	CausationID   string    // causationid: id of the event that caused this one
	Attempt       int       // attempt: 1 is the first
	EffectID      string    // effectid: the same for every attempt of one effect
	Expires       time.Time // expires: after this nobody waits for the work
	ReplyTo       string    // replyto: subject of the response
	Permit        string    // permit: the right to act outside that came with the request
	First         string    // first: server on which this copy of a request, the first, was published (see bus.IsFirstDelivery)
	TraceParent   string    // traceparent (W3C)
	KeyID         string    // keyid: names the key under which Data is encrypted; empty is plain

	Phase            string // phase: of the run after this record (records only)
	SnapshotSequence uint64 // snapshotseq: sequence of the newest record that holds a snapshot; 0 is this one or none (records only)
	PreviousSequence uint64 // prevseq: sequence of the session's previous record (records only)
	Chain            string // chain: the link to the records before it, see Link; empty in a session's first (records only)
	Trail            *Trail // trail: how to find other records of the session (records only)

	// Artifact stands for the body when it is too large for a message
	// (dataref, datahash, datasize, datagrant): then Data is empty.
	Artifact *Artifact
	Data     []byte
}

// MaxBody is the size in bytes above which the body of an event is refused.
const MaxBody = 64 << 20

// An Artifact names bytes in the object store by their content.
type Artifact struct {
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size"`
	MediaType string `json:"media_type,omitempty"`
	// Grant is the right to the bytes, for one agent: to read them, in what it is
	// asked; that it has put them, in what it answers. It stands in no record.
	Grant string `json:"grant,omitzero"`
}

// ValidHash reports whether s is a SHA-256 in lower-case hex.
func ValidHash(s string) bool {
	if len(s) != 64 || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// ErrInvalidEvent reports an event that is not a CloudEvent 1.0.
var ErrInvalidEvent = errors.New("not a valid CloudEvent")

// Session returns the session that an event from outside belongs to: the one that
// its adapter has proved, else what its profile and partition key make.
func (e *Event) Session() string {
	if e.SessionID != "" {
		return e.SessionID
	}
	return SessionID(e.Profile, e.PartitionKey)
}

// Validate checks the attributes that CloudEvents 1.0 requires (section 3.1.1), and that
// only a mail names a session.
func (e *Event) Validate() error {
	for _, required := range [...]struct{ name, value string }{
		{"id", e.ID}, {"source", e.Source}, {"type", e.Type},
	} {
		if required.value == "" {
			return fmt.Errorf("%w: attribute %q is missing", ErrInvalidEvent, required.name)
		}
	}
	if e.SessionID != "" && (e.Type != TypeEmailReceived || !isSessionID(e.SessionID)) {
		return fmt.Errorf("%w: attribute %q is no session that a mail answers", ErrInvalidEvent, "sessionid")
	}
	return nil
}

// TraceParent returns a trace parent as it is, and nothing instead of what is none of the
// version that is defined (W3C Trace Context, section 3.2): a recipient ignores it.
func TraceParent(value string) string {
	parts := strings.Split(value, "-")
	lengths := [...]int{2, 32, 16, 2} // of version, trace, parent and flags
	if len(parts) != len(lengths) || parts[0] != "00" {
		return ""
	}
	for i, part := range parts {
		if len(part) != lengths[i] || strings.Trim(part, "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}
	return value
}
