package schemas

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Fact is one thing decided: a pointer to one of the types that newFact makes, and
// nothing else. Facts are never changed, only added to. A switch over the types of facts has a
// case for each, or a default that says what becomes of the others: the linter refuses it
// otherwise.
//
//sumtype:decl
type Fact interface {
	// Name is the fact's name on the ledger.
	Name() string
	// about returns the number of the run and the id of the task that the fact is about.
	about() (run int, task string)
}

// Facts are what one decision decided, in order. In JSON each is an object with one member,
// the fact under its name.
type Facts []Fact

// RunOf returns the number of the run that a fact is about; 0 is none.
func RunOf(f Fact) int {
	run, _ := f.about()
	return run
}

// As returns the fact when it is of that type, else nil.
func As[T Fact](f Fact) T {
	as, _ := f.(T)
	return as
}

// TaskOf returns the id of the task that a fact is about, or "".
func TaskOf(f Fact) string {
	_, task := f.about()
	return task
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

// Begins reports whether a run was made for the message, at once or in its turn.
func (f *MessageReceived) Begins() bool {
	return f.Disposition == DispositionStarted || f.Disposition == DispositionQueued
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
	DispositionMerged  Disposition = "merged"  // it is part of a run that waits
)

// An Incoming is what a session keeps of a message that starts a run.
type Incoming struct {
	Sequence    uint64 `json:"sequence"`
	ID          string `json:"id"`
	Channel     string `json:"channel"` // email or chat
	Subject     string `json:"subject,omitzero"`
	Text        Body   `json:"text"`
	MergedTexts []Body `json:"merged_texts,omitzero"` // texts of messages that were merged with this one, in order
	Language    string `json:"language,omitzero"`     // a BCP 47 primary tag
	// Reply is nil when nobody waits for an answer, or somebody upstream does.
	Reply *Reply `json:"reply,omitzero"`
	// Withheld is why nothing is answered, whatever comes of it: nobody vouches for who
	// wrote. What such a message says is no part of the conversation.
	Withheld WithheldReason `json:"withheld,omitzero"`
	// Entities are what a request says that it is about, while it waits for its turn.
	Entities map[string]string `json:"entities,omitzero"`
	// Upstream is set on a request of another supervisor or of a planner: the
	// answer is an execution_response to it.
	Upstream *Upstream `json:"upstream,omitzero"`
	// Proven are the artifacts that came with a request, by grants for whom it is to.
	Proven []string `json:"proven,omitzero"`
	// TraceParent is that of the message: what the run asks and answers has it.
	TraceParent string `json:"traceparent,omitzero"`
}

// ReplyAgent returns who delivers the answer; empty when nobody waits for one.
func (m *Incoming) ReplyAgent() string {
	if m.Reply == nil {
		return ""
	}
	return m.Reply.Agent
}

// The channels a message can come in by.
const (
	ChannelEmail = "email"
	ChannelChat  = "chat"
	ChannelAgent = "agent" // an execution_request
)

// Upstream is what the answer to an execution_request repeats of it.
type Upstream struct {
	Request      string    `json:"request"` // message_id
	From         string    `json:"from"`
	To           string    `json:"to"`                     // the agent that the supervisor answers as
	ReplyTo      string    `json:"reply_to,omitzero"`      // subject; absent: the agent's own of the work stream
	PlanID       string    `json:"plan_id"`                // of the request
	Planned      bool      `json:"planned,omitzero"`       // the request holds the plan
	HasArguments bool      `json:"has_arguments,omitzero"` // it holds none, and its one task says more than words, such as arguments
	HasInputs    bool      `json:"has_inputs,omitzero"`    // its tasks bring results to build on, which stand in the input
	Task         string    `json:"task,omitzero"`          // its one task, when it holds no plan
	Subject      string    `json:"subject,omitzero"`       // CloudEvents attribute
	Correlation  string    `json:"correlation,omitzero"`
	Partition    string    `json:"partition,omitzero"`
	Effect       string    `json:"effect,omitzero"`
	Attempt      int       `json:"attempt,omitzero"`
	Expires      time.Time `json:"expires,omitzero"` // after this nobody waits
}

// A Reply says where an answer goes. It is the arguments object of the agent
// that delivers it, but for the text.
type Reply struct {
	Agent      string    `json:"agent,omitzero"`       // mail or chat; empty: nobody waits for an answer
	Account    string    `json:"account,omitzero"`     // mail: which account sends
	To         []Address `json:"to,omitzero"`          // mail
	Cc         []Address `json:"cc,omitzero"`          // mail: who else the letter was for; the account says who gets a copy
	Subject    string    `json:"subject,omitzero"`     // mail
	InReplyTo  string    `json:"in_reply_to,omitzero"` // mail: Message-ID; chat: message id
	References []string  `json:"references,omitzero"`  // mail, oldest first
	Provider   string    `json:"provider,omitzero"`    // chat
	Tenant     string    `json:"tenant,omitzero"`      // chat
	Channel    string    `json:"channel,omitzero"`     // chat
	Thread     string    `json:"thread,omitzero"`      // chat
	ReplyRef   string    `json:"reply_ref,omitzero"`   // chat: sealed, see ChatRoute
}

// RunStarted begins a run.
type RunStarted struct {
	Run         int      `json:"run"`
	Profile     string   `json:"profile"`
	ProfileHash string   `json:"profile_hash"`
	Message     Incoming `json:"message"`
	// Expires is when nobody waits for the run any more; zero is never.
	Expires time.Time `json:"expires,omitzero"`
	// Entities are what the conversation is about now, by name (G-29).
	Entities map[string]string `json:"entities,omitzero"`
}

// ComplexityAssessed says whether the words ask for more than one step.
type ComplexityAssessed struct {
	Run        int        `json:"run"`
	Complexity Complexity `json:"complexity"`
}

// PlanCreated fixes the tasks of a run and their order.
type PlanCreated struct {
	Run      int           `json:"run"`
	Source   PlannerKind   `json:"source,omitzero"`   // where the plan comes from; none when empty
	Template string        `json:"template,omitzero"` // its name
	Tasks    []PlannedTask `json:"tasks"`
}

// PlanRefused says why a plan cannot be carried out: every fault, so that the
// planner can mend it at once (M-16).
type PlanRefused struct {
	Run    int         `json:"run"`
	Source PlannerKind `json:"source"`
	Faults []string    `json:"faults"` // English
}

// A PlannedTask is one task of a plan before it is routed.
type PlannedTask struct {
	Task         string   `json:"task"` // its id inside the run
	Description  Body     `json:"description"`
	Dependencies []string `json:"dependencies,omitzero"`
	Agent        string   `json:"agent,omitzero"` // when the plan assigns it
	Priority     Priority `json:"priority,omitzero"`
	Seconds      int      `json:"seconds,omitzero"`    // estimate
	Tokens       int      `json:"tokens,omitzero"`     // estimate
	Routed       bool     `json:"routed,omitzero"`     // Agent settles who does it
	Optional     bool     `json:"optional,omitzero"`   // the run can do without it
	HasInputs    bool     `json:"has_inputs,omitzero"` // the request that holds the plan has results for it to build on
	// TaskOptions are there when any of them is; read them by Options. In JSON they
	// are members of the task.
	TaskOptions *TaskOptions `json:",embed"`
}

// Options returns what only some tasks have.
func (t *PlannedTask) Options() TaskOptions {
	if t.TaskOptions == nil {
		return TaskOptions{}
	}
	return *t.TaskOptions
}

// TaskOptions are what a plan says of some of its tasks. They are apart because
// ten thousand open runs hold forty thousand tasks without any.
type TaskOptions struct {
	Resources []string `json:"resources,omitzero"` // that no other task may use meanwhile (M-19)
	// Arguments and the rest are handed to the agent as the plan has them.
	Arguments          jsontext.Value `json:"arguments,omitzero"`
	Constraints        jsontext.Value `json:"constraints,omitzero"`
	Deliverables       []string       `json:"deliverables,omitzero"`
	ValidationCriteria []string       `json:"validation_criteria,omitzero"`
	FilesToModify      []string       `json:"files_to_modify,omitzero"`
	References         []string       `json:"references,omitzero"`
}

// TaskRouted says who does a task, and why.
type TaskRouted struct {
	Run      int           `json:"run"`
	Task     string        `json:"task"`
	Decision RouteDecision `json:"decision"`
}

// TaskReady says that a task may begin, but waits until its agent has room and
// its resources are free.
type TaskReady struct {
	Run   int      `json:"run"`
	Task  string   `json:"task"`
	Agent string   `json:"agent"`
	Kind  TaskKind `json:"kind,omitzero"`
	// Until is when a question counts as unanswered though nobody could be asked,
	// so that no decision waits for it any longer (P-09); zero is never.
	Until time.Time `json:"until,omitzero"`
}

// TaskDispatched says that a request goes out. The request itself is a pure
// function of the state and this fact.
type TaskDispatched struct {
	Run     int       `json:"run"`
	Task    string    `json:"task"`
	Agent   string    `json:"agent"`
	Kind    TaskKind  `json:"kind,omitzero"` // what is asked, when it is no task of the plan
	Attempt int       `json:"attempt"`
	Request string    `json:"request"` // message_id of the request
	Effect  string    `json:"effect"`  // effectid: the same for every attempt
	Expires time.Time `json:"expires"` // the queue deadline and the work deadline together
	Queue   time.Time `json:"queue"`   // by when it must have begun
	// Permitted says that the request brings the permit for its effect along.
	Permitted bool `json:"permitted,omitzero"`
}

// TaskUnserved says that nobody serves the agent that a task waits for. It holds
// until the task begins or its attempt ends.
type TaskUnserved struct {
	Run   int       `json:"run"`
	Task  string    `json:"task"`
	Agent string    `json:"agent"`
	Since time.Time `json:"since,omitzero"` // when the agent was last there; zero is never
}

// TaskStarted says that an agent works on it.
type TaskStarted struct {
	Run      int       `json:"run"`
	Task     string    `json:"task"`
	Attempt  int       `json:"attempt"`
	Deadline time.Time `json:"deadline"`         // by when it must have answered
	Slow     time.Time `json:"slow,omitzero"`    // when it will have taken twice its estimate
	Silence  time.Time `json:"silence,omitzero"` // when it counts as crashed without another sign of life
}

// TaskProgressed says how far an agent is.
type TaskProgressed struct {
	Run        int    `json:"run"`
	Task       string `json:"task"`
	Attempt    int    `json:"attempt"`
	Percentage int    `json:"percentage"`
	Message    string `json:"message,omitzero"`
}

// TaskHeartbeat says that an agent which promised signs of life has given one.
type TaskHeartbeat struct {
	Run     int       `json:"run"`
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Silence time.Time `json:"silence"` // when it counts as crashed without another one
}

// TaskDelayed warns that a task takes more than twice its estimate (M-34).
type TaskDelayed struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Seconds int    `json:"seconds"` // the estimate
}

// TaskCompleted holds a task's result.
type TaskCompleted struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Result  Body   `json:"result"`
	// Reused is the sequence of the earlier answer that stands in (M-29); no
	// agent was asked then.
	Reused       uint64        `json:"reused,omitzero"`
	Recovered    Recovery      `json:"recovered,omitzero"` // what has helped after a failed attempt (M-46)
	Deliverables []Deliverable `json:"deliverables,omitzero"`
	Tokens       int           `json:"tokens,omitzero"` // used, as the agent says
	// Proven are the artifacts that the result names and that may be passed on.
	// Unproven are the names of files that may not: the agent has shown no grant.
	Proven   []string `json:"proven,omitzero"`
	Unproven []string `json:"unproven,omitzero"`
}

// TaskFailed ends an attempt; a task without RetryAt has failed for good.
type TaskFailed struct {
	Run     int         `json:"run"`
	Task    string      `json:"task"`
	Attempt int         `json:"attempt"`
	Cause   FailureKind `json:"cause"`
	Detail  string      `json:"detail,omitzero"` // from the agent; tainted
	RetryAt time.Time   `json:"retry_at,omitzero"`
	// Category and Action classify it and say what is done about it (M-44, M-45).
	Category FailureCategory `json:"category,omitzero"`
	Action   Recovery        `json:"action,omitzero"`
	Agent    string          `json:"agent,omitzero"` // who is asked next, when it is another one
	// EffectUnknown says that what was permitted may have happened all the same, as
	// the agent says.
	EffectUnknown bool `json:"effect_unknown,omitzero"`
	// Quarantine is the id in quarantine of an answer that cannot be read.
	Quarantine string `json:"quarantine,omitzero"`
}

// Undone reports whether the agent has said that the attempt came to nothing, so
// that its effect may be permitted to another one as if it were the first.
func (f *TaskFailed) Undone() bool {
	switch f.Cause {
	case FailureAgent, FailurePermanent, FailureBlocked:
		return !f.EffectUnknown
	case FailureTimeout, FailureNotStarted, FailureNoRoute, FailureInvalidResult, FailureCrashed,
		FailureUnavailable, FailureArguments, FailureUnknownEffect, FailureMalformed:
	}
	return false
}

// FailureCategory is the class of a failure (M-44).
type FailureCategory string

// The failure categories.
const (
	CategoryExecution    FailureCategory = "task_execution"
	CategoryValidation   FailureCategory = "validation"
	CategoryDependency   FailureCategory = "dependency"
	CategoryResource     FailureCategory = "resource"
	CategoryCoordination FailureCategory = "coordination"
)

// Recovery is what is done about a failure (M-45).
type Recovery string

// The recoveries.
const (
	RecoveryRetry                 Recovery = "retry"
	RecoveryRetryLonger           Recovery = "retry_with_longer_timeout"
	RecoveryRetryClarified        Recovery = "retry_with_clarification"
	RecoveryFallback              Recovery = "fallback_agent"
	RecoverySkip                  Recovery = "skip_task"
	RecoveryEscalateToPlanner     Recovery = "escalate_to_planner"
	RecoveryEscalateToCoordinator Recovery = "escalate_to_coordinator" // whoever asked is told
)

// FailureKind classifies a failure (M-44).
type FailureKind string

// The failure kinds.
const (
	FailureTimeout       FailureKind = "timeout"           // work deadline passed
	FailureNotStarted    FailureKind = "not_started"       // queue deadline passed
	FailureAgent         FailureKind = "agent_failed"      // the agent says so; another attempt may help
	FailurePermanent     FailureKind = "agent_refused"     // the agent says that no attempt can help
	FailureNoRoute       FailureKind = "no_route"          // no router decided
	FailureInvalidResult FailureKind = "invalid_result"    // the answer is not usable
	FailureCrashed       FailureKind = "crashed"           // its signs of life have stopped
	FailureUnavailable   FailureKind = "unavailable"       // its circuit breaker is open: it was not asked
	FailureBlocked       FailureKind = "blocked"           // the agent says that it waits for somebody else
	FailureArguments     FailureKind = "invalid_arguments" // they break the agent's schema: it was not asked
	FailureUnknownEffect FailureKind = "unknown_effect"    // it may have happened, and the profile wants to be asked
	FailureMalformed     FailureKind = "malformed"         // the answer cannot be read, and is in quarantine
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

// EntityMismatched flags an answer that speaks about another entity than the
// conversation does (G-30).
type EntityMismatched struct {
	Run    int    `json:"run"`
	Task   string `json:"task"`
	Entity string `json:"entity"`
	Found  string `json:"found"` // tainted
}

// PermitGranted lets an agent act outside: once for each effect, unless the agent
// has said that the attempt which was permitted failed.
type PermitGranted struct {
	Run     int    `json:"run"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	Permit  string `json:"permit"`         // message_id of the PermitRequest
	Again   bool   `json:"again,omitzero"` // granted before in this run, with an unknown outcome (on_unknown: resend)
}

// PermitRefused keeps an agent from acting outside.
type PermitRefused struct {
	Run     int          `json:"run"`
	Task    string       `json:"task"`
	Attempt int          `json:"attempt"`
	Permit  string       `json:"permit"`
	Reason  PermitReason `json:"reason"`
	Agent   string       `json:"agent"` // who has asked
}

// ReplyWithheld says that an answer is not delivered although its run is settled.
// The answer stands in the run.
type ReplyWithheld struct {
	Run    int            `json:"run"`
	Reason WithheldReason `json:"reason"`
	Until  time.Time      `json:"until,omitzero"` // when the next answer may be delivered
}

// WithheldReason says why an answer is not delivered.
type WithheldReason string

// The reasons.
const (
	// WithheldBudget says that the conversation has had as many answers as it may have in an
	// hour, so that two programs that answer each other come to an end.
	WithheldBudget WithheldReason = "reply_budget"
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
	Message string `json:"message"`         // id of the event that it came by
	Action  string `json:"action,omitzero"` // RFC 3464: failed, delayed, delivered, relayed or expanded
	Status  string `json:"status,omitzero"` // RFC 3463, such as 5.1.1
	Failed  bool   `json:"failed,omitzero"` // for good: nobody has got the answer
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
	StopInvalidPlan  StopReason = "invalid_plan"
	StopExpired      StopReason = "expired"    // nobody waits any more, or the run's own deadline has passed
	StopSuperseded   StopReason = "superseded" // a newer message took its place
	StopBlocked      StopReason = "blocked"    // it waits for whoever asked
	StopUnavailable  StopReason = "agent_unavailable"
	StopFinished     StopReason = "finished"       // the conversation was closed (O-13)
	StopRefuted      StopReason = "sender_refuted" // it was not begun: the sender is forged
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
	// Attachments are files beside the words.
	Attachments []Attachment `json:"attachments,omitzero"`
}
