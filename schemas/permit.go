package schemas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A PermitRequest asks for the right to act outside. InReplyTo is the request that
// the agent works on; the id names the question, so that whoever has not heard
// the answer asks again with the same one.
type PermitRequest struct {
	Envelope
	// Call is the Action's that is to be done; empty when the agent cannot say what it will do.
	Call string `json:"call,omitzero"`
}

// An Action is what an agent is about to do outside.
type Action struct {
	Summary    string         // for a person, in the agent's own words
	Data       jsontext.Value // all that makes it what it is: an object
	Recipients []string       // whom it reaches, where that is not in the data
}

// Call names an action: SHA-256 (hex) of its data and recipients as canonical JSON (RFC 8785). Words that describe it are no part of it. It
// fails on data that is no JSON.
func (a *Action) Call() (string, error) {
	data := slices.Clone(a.Data)
	if len(data) == 0 {
		data = jsontext.Value("{}")
	}
	if err := data.Canonicalize(); err != nil {
		return "", fmt.Errorf("the data of an action is not JSON: %w", err)
	}
	body, err := Marshal(struct {
		Data       jsontext.Value `json:"data"`
		Recipients []string       `json:"recipients,omitzero"`
	}{data, a.Recipients})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
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
	// PermitUnapproved: it stems from what comes from outside, and nobody has agreed. The answer is blocked, with what was
	// to be done as the operation.
	PermitUnapproved PermitReason = "unapproved"
)

// PermitID returns the id of the permit that a request brings with it.
func PermitID(request string) string { return derive("permit", request) }
