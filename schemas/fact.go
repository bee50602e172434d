package schemas

import "time"

// A Fact is one thing decided. Exactly one field is set; its JSON name is the
// fact's name on the ledger. Facts are never changed, only added to.
type Fact struct {
	MessageReceived    *MessageReceived    `json:"message_received,omitzero"`
	RunStarted         *RunStarted         `json:"run_started,omitzero"`
	ComplexityAssessed *ComplexityAssessed `json:"complexity_assessed,omitzero"`
	PlanCreated        *PlanCreated        `json:"plan_created,omitzero"`
	TaskRouted         *TaskRouted         `json:"task_routed,omitzero"`
	TaskDispatched     *TaskDispatched     `json:"task_dispatched,omitzero"`
	TaskStarted        *TaskStarted        `json:"task_started,omitzero"`
	TaskProgressed     *TaskProgressed     `json:"task_progressed,omitzero"`
	TaskCompleted      *TaskCompleted      `json:"task_completed,omitzero"`
	TaskFailed         *TaskFailed         `json:"task_failed,omitzero"`
	TaskSkipped        *TaskSkipped        `json:"task_skipped,omitzero"`
	TaskCancelled      *TaskCancelled      `json:"task_cancelled,omitzero"`
	ResponseLate       *ResponseLate       `json:"response_late,omitzero"`
	RunSettled         *RunSettled         `json:"run_settled,omitzero"`
	RunEnded           *RunEnded           `json:"run_ended,omitzero"`
}

// A Body is text or data that a session holds: in place when it is small, else
// by the ledger sequence (in the session's shard) of the input that carries it.
type Body struct {
	Result
	Sequence uint64 `json:"sequence,omitzero"`
	// Offset and Size, in bytes, are the part of that input's text that is meant.
	Offset int `json:"offset,omitzero"`
	Size   int `json:"size,omitzero"`
}

// InlineLimit is the size in bytes up to which a Body stands in the record.
const InlineLimit = 4 << 10

// MessageReceived says what became of an incoming message: every one of them
// ends in exactly one disposition.
type MessageReceived struct {
	ID          string      `json:"id"` // of the input event
	Sequence    uint64      `json:"sequence"`
	Run         int         `json:"run,omitzero"` // the run it began, waits for, or speaks of
	Disposition Disposition `json:"disposition"`
	Reason      string      `json:"reason,omitzero"` // machine-readable, when nothing came of it
	// Message is held while it waits for its turn.
	Message *Incoming `json:"message,omitzero"`
}

// Disposition is what became of an incoming message.
type Disposition string

// The dispositions.
const (
	DispositionStarted Disposition = "started" // it began a run
	DispositionQueued  Disposition = "queued"  // it waits until the session's run has ended
	DispositionIgnored Disposition = "ignored" // it needs no answer, and Reason says why
	DispositionControl Disposition = "control" // it changed a run
	DispositionRefused Disposition = "refused" // it asked for something that is not possible any more
)

// An Incoming is what a session keeps of a message that starts a run.
type Incoming struct {
	Sequence uint64 `json:"sequence"`
	ID       string `json:"id"`
	Channel  string `json:"channel"` // email or chat
	Subject  string `json:"subject,omitzero"`
	Words    Body   `json:"words"`
	Language string `json:"language,omitzero"` // a BCP 47 primary tag
	Reply    Reply  `json:"reply"`
}

// The channels a message can come in by.
const (
	ChannelEmail = "email"
	ChannelChat  = "chat"
)

// A Reply says where an answer goes. It is the arguments object of the agent
// that delivers it, but for the text.
type Reply struct {
	Agent      string    `json:"agent,omitzero"`       // mail or chat; empty: nobody waits for an answer
	Account    string    `json:"account,omitzero"`     // mail: which account sends
	To         []Address `json:"to,omitzero"`          // mail
	Subject    string    `json:"subject,omitzero"`     // mail
	InReplyTo  string    `json:"in_reply_to,omitzero"` // mail: Message-ID; chat: message id
	References []string  `json:"references,omitzero"`  // mail, oldest first
	Provider   string    `json:"provider,omitzero"`    // chat
	Tenant     string    `json:"tenant,omitzero"`      // chat
	Channel    string    `json:"channel,omitzero"`     // chat
	Thread     string    `json:"thread,omitzero"`      // chat
}

// RunStarted begins a run.
type RunStarted struct {
	Run         int      `json:"run"`
	Profile     string   `json:"profile"`
	ProfileHash string   `json:"profile_hash"`
	Message     Incoming `json:"message"`
}

// ComplexityAssessed says whether the words ask for more than one step.
type ComplexityAssessed struct {
	Run        int        `json:"run"`
	Complexity Complexity `json:"complexity"`
}

// PlanCreated fixes the tasks of a run and their order.
type PlanCreated struct {
	Run   int           `json:"run"`
	Tasks []PlannedTask `json:"tasks"`
}

// A PlannedTask is one task of a plan before it is routed.
type PlannedTask struct {
	Task         string   `json:"task"` // its id inside the run
	Description  Body     `json:"description"`
	Dependencies []string `json:"dependencies,omitzero"`
	Agent        string   `json:"agent,omitzero"` // when the plan assigns it
}

// TaskRouted says who does a task, and why.
type TaskRouted struct {
	Run      int           `json:"run"`
	Task     string        `json:"task"`
	Decision RouteDecision `json:"decision"`
}

// TaskDispatched says that a request goes out. The request itself is a pure
// function of the state and this fact.
type TaskDispatched struct {
	Run     int       `json:"run"`
	Task    string    `json:"task"`
	Agent   string    `json:"agent"`
	Attempt int       `json:"attempt"`
	Request string    `json:"request"` // message_id of the request
	Effect  string    `json:"effect"`  // effectid: the same for every attempt
	Expires time.Time `json:"expires"` // the queue deadline and the work deadline together
	Queue   time.Time `json:"queue"`   // by when it must have begun
}

// TaskStarted says that an agent works on it.
type TaskStarted struct {
	Run      int       `json:"run"`
	Task     string    `json:"task"`
	Attempt  int       `json:"attempt"`
	Deadline time.Time `json:"deadline"` // by when it must have answered
}

// TaskProgressed says how far an agent is.
type TaskProgressed struct {
	Run        int    `json:"run"`
	Task       string `json:"task"`
	Attempt    int    `json:"attempt"`
	Percentage int    `json:"percentage"`
	Message    string `json:"message,omitzero"`
}

// TaskCompleted holds a task's result.
type TaskCompleted struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Result  Body   `json:"result"`
}

// TaskFailed ends an attempt; a task without RetryAt has failed for good.
type TaskFailed struct {
	Run     int         `json:"run"`
	Task    string      `json:"task"`
	Attempt int         `json:"attempt"`
	Cause   FailureKind `json:"cause"`
	Detail  string      `json:"detail,omitzero"` // from the agent; tainted
	RetryAt time.Time   `json:"retry_at,omitzero"`
}

// FailureKind classifies a failure (M-44).
type FailureKind string

// The failure kinds.
const (
	FailureTimeout       FailureKind = "timeout"        // work deadline passed
	FailureNotStarted    FailureKind = "not_started"    // queue deadline passed
	FailureAgent         FailureKind = "agent_failed"   // the agent says so; another attempt may help
	FailurePermanent     FailureKind = "agent_refused"  // the agent says that no attempt can help
	FailureNoRoute       FailureKind = "no_route"       // no router decided
	FailureInvalidResult FailureKind = "invalid_result" // the answer is not usable
)

// TaskSkipped says that a task is not done because one it depends on failed.
type TaskSkipped struct {
	Run    int    `json:"run"`
	Task   string `json:"task"`
	Reason string `json:"reason"`
}

// TaskCancelled says that a task under way is not waited for any more.
type TaskCancelled struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt,omitzero"`
}

// ResponseLate records an answer that changes nothing: its attempt is stale or
// its run has ended.
type ResponseLate struct {
	Run      int    `json:"run"`
	Task     string `json:"task"`
	Attempt  int    `json:"attempt"`
	Sequence uint64 `json:"sequence"`
	Status   string `json:"status"`
}

// RunStatus is how a run ended.
type RunStatus string

// The run statuses.
const (
	RunCompleted RunStatus = "completed"
	RunPartial   RunStatus = "partial"
	RunFailed    RunStatus = "failed"
	RunBlocked   RunStatus = "blocked"
	RunCancelled RunStatus = "cancelled"
)

// StopReason says in one word why a run ended.
type StopReason string

// The stop reasons.
const (
	StopCompleted    StopReason = "completed"
	StopTaskFailed   StopReason = "task_failed"
	StopTimeout      StopReason = "timeout"
	StopNoRoute      StopReason = "no_route"
	StopCancelled    StopReason = "cancelled"
	StopReplyFailed  StopReason = "reply_failed"
	StopDirectAnswer StopReason = "direct_answer" // answered without an agent (O-13)
)

// RunSettled fixes the outcome of the work and the words of the answer; the
// answer may still have to be delivered.
type RunSettled struct {
	Run    int        `json:"run"`
	Status RunStatus  `json:"status"`
	Reason StopReason `json:"reason"`
	// Answer lists the results that the answer is assembled from, in order.
	Answer []AnswerPart `json:"answer,omitzero"`
	Error  *Error       `json:"error,omitzero"`
}

// An AnswerPart is one piece of an answer.
type AnswerPart struct {
	Task string `json:"task,omitzero"`
	Body Body   `json:"body"`
}

// RunEnded is the last fact of a run.
type RunEnded struct {
	Run     int        `json:"run"`
	Status  RunStatus  `json:"status"`
	Reason  StopReason `json:"reason"`
	Replied string     `json:"replied,omitzero"` // Message-ID or reply id of the delivered answer
}

// DeliveryArguments is the arguments object of a request that delivers an answer.
type DeliveryArguments struct {
	Reply
	Text string `json:"text"`
}
