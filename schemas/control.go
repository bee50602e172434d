package schemas

import "github.com/go-json-experiment/json/jsontext"

// A Control is a person's word about a run or a quarantined message.
type Control struct {
	Action ControlAction `json:"action"`
	Run    string        `json:"run,omitzero"` // the run it is about
	// Request is that of the execution_request which began the run, when it is a
	// supervisor's word and Run is empty; the event's profile and partitionkey name the session.
	Request string `json:"request,omitzero"`
	Target  string `json:"target,omitzero"` // the quarantined message or the agent it is about
	By      string `json:"by,omitzero"`     // who said it
	// Via is how they did, where that is ViaCLI: By is the operating system's user then. As is the person of the configuration for whom they
	// say it, as they claim: that needs no proof, and is on record as a claim.
	Via    ActorVia `json:"via,omitzero"`
	As     string   `json:"as,omitzero"`
	Reason string   `json:"reason,omitzero"`
	// Inquiry, with ControlAnswer, ControlApprove, ControlRaise, ControlReject and ControlReplan, is the number of the inquiry of the run that it is
	// about; 0 is the one that is open.
	Inquiry int `json:"inquiry,omitzero"`
	// Hash, with ControlApprove and ControlReject, is InquiryOpened.Hash as whoever decides has seen it; empty is not compared.
	Hash string `json:"hash,omitzero"`
	// Arguments, with ControlApprove, change those that were asked about, as a JSON merge patch has it: what is agreed to is that.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	// Amount, with ControlRaise, is by how much a budget is raised; empty is by what was offered.
	Amount *Usage `json:"amount,omitzero"`
	// Text, with ControlAnswer and ControlReplan, are the words.
	Text string `json:"text,omitzero"`
	// Tasks, with ControlReplan, are what is done instead, as an execution_request has them: an array.
	Tasks jsontext.Value `json:"tasks,omitzero"`
	// AllowDuplicate, with ControlResend, sends an answer again that may have been sent; with ControlRetry it has done again what may have been done outside.
	AllowDuplicate bool `json:"allow_duplicate,omitzero"`
	// From, with ControlRetry, is the task from which on the run is done again; empty is what has not been completed.
	From string `json:"from,omitzero"`
}

// Words are what is said by it.
func (c *Control) Words() string {
	if c.Action == ControlReplan && len(c.Tasks) > 0 {
		return `{"tasks":` + string(c.Tasks) + `}`
	}
	return c.Text
}

// ControlAction is what a person asks for.
type ControlAction string

// The control actions.
const (
	ControlCancel            ControlAction = "cancel"
	ControlAnswer            ControlAction = "answer"
	ControlApprove           ControlAction = "approve"
	ControlReject            ControlAction = "reject"
	ControlRaise             ControlAction = "raise"
	ControlReplan            ControlAction = "replan"
	ControlResend            ControlAction = "resend"
	ControlRetry             ControlAction = "retry"
	ControlResetBreaker      ControlAction = "reset_breaker" // of the agent that Target names
	ControlGiveUp            ControlAction = "give_up"       // the answer of a run whose work is done: it is not sent
	ControlQuarantineRetry   ControlAction = "quarantine_retry"
	ControlQuarantineDiscard ControlAction = "quarantine_discard"
)
