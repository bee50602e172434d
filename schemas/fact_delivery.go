package schemas

import "time"

// ReplyWithheld says that an answer is not delivered although its run is settled.
// The answer stands in the run.
type ReplyWithheld struct {
	Run    int            `json:"run"`
	Reason WithheldReason `json:"reason"`
}

// AnswerDelayed says that the answer of a settled run waits until its budget has capacity for it. The first
// attempt to deliver it begins then, in the same run.
type AnswerDelayed struct {
	Run   int       `json:"run"`
	Agent string    `json:"agent"` // delivers it
	Until time.Time `json:"until"`
}

// WithheldReason says why an answer is not delivered.
type WithheldReason string

// The reasons.
const (
	// WithheldUnproven says that nobody vouches for who wrote: an answer may carry a
	// stranger's words to somebody who never wrote.
	WithheldUnproven WithheldReason = "sender_unproven"
	// WithheldRefuted says that the receiving server calls the sender forged. No work is
	// done for it either.
	WithheldRefuted WithheldReason = "sender_refuted"
)

// DeliveryBounced says that a mail system has reported what became of an answer
// that was sent. Whoever got the answer could have written such a report.
type DeliveryBounced struct {
	Run     int    `json:"run"`
	Message string `json:"message"`          // id of the event that it came by
	Action  string `json:"action,omitzero"`  // RFC 3464: failed, delayed, delivered, relayed or expanded
	Status  string `json:"status,omitzero"`  // RFC 3463, such as 5.1.1
	Failed  bool   `json:"failed,omitzero"`  // for good: nobody has got the answer
	Inquiry int    `json:"inquiry,omitzero"` // it is about a notice of that inquiry, and not about the answer
	// Recipient is the address of the one who has not got a notice, when several were asked.
	Recipient string `json:"recipient,omitzero"`
}

// DeliveryArguments is the arguments object of a request that delivers an answer.
type DeliveryArguments struct {
	Reply
	Text string `json:"text"`
	// Attachments are files beside the words.
	Attachments []Attachment `json:"attachments,omitzero"`
	// Data are files that are made of what agents have answered.
	Data []DataFile `json:"data,omitzero"`
	// Inquiry is the number of the one that the words are a notice of; 0 is an answer.
	Inquiry int `json:"inquiry,omitzero"`
	// Requester is an opaque key of who has begun the run, in a question to people of the configuration that is no
	// part of the requester's own thread: such questions are bounded for each requester.
	Requester string `json:"requester,omitzero"`
}

// A DataFile is data of an answer as a file beside its words.
type DataFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Text      string `json:"text"`
}

// ResendRequested says that a person wants an answer delivered that was not: its run
// goes on with that as soon as no other one is under way.
type ResendRequested struct {
	Run int `json:"run"`
	// AllowDuplicate says that the answer is to be sent although an earlier attempt may
	// have delivered it, of which nobody knows.
	AllowDuplicate bool `json:"allow_duplicate,omitzero"`
}

// DeliveryReopened takes a run that has ended back to the delivery of its answer. It
// holds all that this needs of the run. The effect is the one that the answer had, so
// that whoever got it after all can tell.
type DeliveryReopened struct {
	Run         int          `json:"run"`
	Profile     string       `json:"profile"`
	ProfileHash string       `json:"profile_hash"`
	Message     Incoming     `json:"message"`
	Status      RunStatus    `json:"status"`
	Reason      StopReason   `json:"reason"`
	Answer      []AnswerPart `json:"answer,omitzero"`
	Error       *Error       `json:"error,omitzero"`
	Notes       string       `json:"notes,omitzero"`   // what is told below the answer
	Summary     string       `json:"summary,omitzero"` // what is told instead of the words of its parts
	Made        []MadeByTask `json:"made,omitzero"`    // the files that go with the answer
	Agent       string       `json:"agent"`            // who delivers it
	Attempt     int          `json:"attempt,omitzero"` // attempts before; 0 when it was withheld
	Request     string       `json:"request,omitzero"` // message_id of the newest of them
	// AllowDuplicate is the person's, in whose word an earlier permit counts no more.
	AllowDuplicate bool `json:"allow_duplicate,omitzero"`
}

// MadeByTask is what a task has made, as far as it goes with the answer.
type MadeByTask struct {
	Task         string        `json:"task"`
	Agent        string        `json:"agent,omitzero"` // whose data is told
	Deliverables []Deliverable `json:"deliverables,omitzero"`
	Proven       []string      `json:"proven,omitzero"` // artifacts that may be passed on
}

// Why an answer is not sent again, as MessageReceived has it.
const (
	ResendNotEnded  = "not_ended"          // its run is under way
	ResendAnswered  = "already_answered"   // it was delivered
	ResendReturned  = "returned"           // it was delivered, and a mail system has reported that it came back
	ResendNoAnswer  = "no_answer"          // nobody waits for one
	ResendUncertain = "may_have_been_sent" // nobody knows whether an earlier attempt has delivered it
	ResendWaits     = "already_requested"
	ResendUnagreed  = "not_agreed_to" // people have to agree to it, and have not
)

// CancelSettled is why a run is not cancelled, as MessageReceived has it: its answer is being delivered, or was.
const CancelSettled = "already_settled"

// Why an answer is not given up, as MessageReceived has it.
const (
	GiveUpNotSettled = "not_settled"   // its run works: it can be cancelled
	GiveUpEnded      = "already_ended" // it was delivered, or its delivery has failed for good
	GiveUpPermitted  = "being_sent"    // an attempt is under way that may send it
)

// Why a run is not retried, as MessageReceived has it; ResendNotEnded is one of them too.
const (
	RetryBusy        = "session_busy"       // another run of its session is under way, or waits
	RetryUpstream    = "asked_upstream"     // a supervisor has asked for it, and is answered
	RetryNothing     = "nothing_to_retry"   // all of its tasks are completed, or nothing is done for it
	RetryUnknownTask = "unknown_task"       // it has no such task
	RetryEffects     = "effects_may_repeat" // what is done again may have been done outside
)
