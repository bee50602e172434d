package schemas

// A PermitRequest asks for the right to act outside. InReplyTo is the request that
// the agent works on; the id names the question, so that whoever has not heard
// the answer asks again with the same one.
type PermitRequest struct {
	Envelope
}

// EnvelopeTypePermitRequest is the Envelope.Type of a PermitRequest.
const EnvelopeTypePermitRequest = "permit_request"

// A PermitAnswer is what became of a PermitRequest. It is a signal: nothing
// stores it, and it may be missed.
type PermitAnswer struct {
	Permit  string       `json:"permit"` // message_id of the PermitRequest
	Granted bool         `json:"granted"`
	Reason  PermitReason `json:"reason,omitzero"` // when it is refused
}

// PermitReason says why an agent may not act.
type PermitReason string

// The reasons.
const (
	PermitCancelled PermitReason = "cancelled" // nobody wants the effect any more
	PermitStale     PermitReason = "stale"     // nobody waits for this attempt any more
	PermitGone      PermitReason = "granted"   // somebody else has been permitted since this was asked
	PermitUnknown   PermitReason = "unknown"   // it may have happened already, and the profile wants to be asked
	PermitQuestion  PermitReason = "question"  // the request asks a question, and only work may act outside
	PermitElsewhere PermitReason = "elsewhere" // it was permitted, and goes on elsewhere until it is answered
)

// PermitID returns the id of the permit that a request brings with it.
func PermitID(request string) string { return derive("permit", request) }
