package session

import "podium/schemas"

// An Output is one thing that a decision has the shell do. Most are messages, and those of
// a decision that is on record follow from the record: see Outputs. The others are in the
// Outcome.
type Output struct {
	Kind    OutputKind
	Agent   string                // who is asked or told, or as whom the supervisor answers
	Event   schemas.Event         // of a request or a response
	Request string                // of a cancel hint: the id of what nobody waits for any more
	Permit  *schemas.PermitAnswer // of a permit answer
	Refusal *Refusal              // of a quarantine
	Run     int                   // of a repeated response: the run whose answer it is
	Reuse   schemas.Reuse         // of a reusable result
	// External says of a request that its agent acts outside of Podium, or that its task
	// holds what no other task may use meanwhile.
	External bool
}

// OutputKind says what an output is.
type OutputKind string

// The kinds of output.
const (
	// OutputRequest is an execution_request. One that brings its permit along may be
	// published so only once: any further copy of it has to go without.
	OutputRequest OutputKind = "request"
	// OutputResponse is an execution_response to whoever asked for the run.
	OutputResponse OutputKind = "response"
	// OutputRepeatedResponse is the response that the end of an earlier run owed, once more:
	// whoever asks again has not heard it.
	OutputRepeatedResponse OutputKind = "repeated_response"
	// OutputCancelHint tells an agent that nobody waits for its answer.
	OutputCancelHint OutputKind = "cancel_hint"
	// OutputPermitAnswer says whether an agent may act outside.
	OutputPermitAnswer OutputKind = "permit_answer"
	// OutputQuarantine puts the input into quarantine.
	OutputQuarantine OutputKind = "quarantine"
	// OutputReusable is an answer that may stand in for others of the same input (M-29).
	OutputReusable OutputKind = "reusable_result"
)

// Durable reports whether the ledger has to acknowledge the output before its input is
// done. The others are hints: whoever misses one asks again, or is told again.
func (o *Output) Durable() bool {
	switch o.Kind {
	case OutputRequest, OutputResponse, OutputRepeatedResponse, OutputQuarantine:
		return true
	case OutputCancelHint, OutputPermitAnswer, OutputReusable:
	}
	return false
}

// ToldOutside reports whether somebody outside of the ledger goes by the output, so that
// it cannot be taken back. What it follows from has to survive a loss of power by then.
func (o *Output) ToldOutside() bool {
	switch o.Kind {
	case OutputRequest:
		return o.External || o.Event.Permit != ""
	case OutputResponse, OutputRepeatedResponse, OutputCancelHint, OutputPermitAnswer:
		return true
	case OutputQuarantine, OutputReusable:
	}
	return false
}

// A Refusal says why an input belongs in quarantine.
type Refusal struct {
	Reason schemas.QuarantineReason
	Detail string
}
