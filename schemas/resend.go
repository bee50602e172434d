package schemas

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
)
