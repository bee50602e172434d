package schemas

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Content is text or data that a session holds: in place when it is small, else
// by the ledger sequence (in the session's shard) of the input that carries it.
type Content struct {
	Result
	Sequence uint64 `json:"sequence,omitzero"`
	// Offset and Size, in bytes, are the part of that input's text that is meant.
	Offset int `json:"offset,omitzero"`
	Size   int `json:"size,omitzero"`
}

// RecordInlineLimit is the size in bytes up to which a Content stands in the record.
const RecordInlineLimit = 4 << 10

// MessageReceived says what became of an incoming message: every one of them
// ends in exactly one disposition.
type MessageReceived struct {
	ID          string      `json:"id"` // of the input event
	Sequence    uint64      `json:"sequence"`
	Run         int         `json:"run,omitzero"`     // the run it began, waits for, or speaks of
	Inquiry     int         `json:"inquiry,omitzero"` // the inquiry of that run that it speaks of
	Disposition Disposition `json:"disposition"`
	Reason      string      `json:"reason,omitzero"` // machine-readable, when nothing came of it
	// Message is held while it waits for its turn.
	Message *Incoming `json:"message,omitzero"`
	// Final says that a person has cancelled a run that waits for its turn: see RunEnded.
	Final bool `json:"final,omitzero"`
	// By is who has said it, of a word at the command line.
	By *Actor `json:"by,omitzero"`
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
	// DispositionAnswered: it is a person's word on an inquiry.
	DispositionAnswered Disposition = "answered"
	// DispositionHeld: it is a person's word on an inquiry whose run has ended. It counts once a further attempt of whoever is
	// upstream adopts that.
	DispositionHeld Disposition = "held"
)

// An Incoming is what a session keeps of a message that starts a run.
type Incoming struct {
	Sequence    uint64    `json:"sequence"`
	ID          string    `json:"id"`
	Channel     string    `json:"channel"` // email or chat
	Subject     string    `json:"subject,omitzero"`
	Text        Content   `json:"text"`
	MergedTexts []Content `json:"merged_texts,omitzero"` // texts of messages that were merged with this one, in order
	Language    string    `json:"language,omitzero"`     // a BCP 47 primary tag
	// Reply is nil when nobody waits for an answer, or somebody upstream does.
	Reply *Reply `json:"reply,omitzero"`
	// Author, Origin, Quoted, Files and Taken say who has written, how far that
	// is believed, whether earlier messages are quoted, how many files came along, and when its adapter
	// has taken it. Words and files stand in the input.
	Author *Author    `json:"author,omitzero"`
	Origin MailOrigin `json:"origin,omitzero"`
	Quoted bool       `json:"quoted,omitzero"`
	Files  int        `json:"files,omitzero"`
	Taken  time.Time  `json:"taken,omitzero"`
	// Tainted says of a request that something in it comes from outside.
	Tainted bool `json:"tainted,omitzero"`
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

// FromOutside reports whether a message holds what somebody has written who may not say what is done. All that is made of it in its
// run does, too.
func (m *Incoming) FromOutside() bool { return m.Upstream == nil || m.Tainted }

// IsRequester reports whether an address may be that of the person who has begun the run: the writer's, or one that the answer goes to.
// A mail without an author that can be read may be from any address.
func (m *Incoming) IsRequester(address string) bool {
	if m.HasUnknownRequester() {
		return true
	}
	if m.Author != nil && IsSamePerson(m.Author.Address, address) {
		return true
	}
	return m.Reply != nil && slices.ContainsFunc(m.Reply.To, func(to Address) bool { return IsSamePerson(to.Address, address) })
}

// HasUnknownRequester reports whether a mail has begun the run that names no author, or one who cannot be read.
func (m *Incoming) HasUnknownRequester() bool {
	return m.Channel == ChannelEmail && (m.Author == nil || m.Author.Address == "")
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
	HasAnswers   bool      `json:"has_answers,omitzero"`   // its tasks bring what people have answered, which stands in the input
	HasContext   bool      `json:"has_context,omitzero"`   // its tasks bring files, or what was said before, which stand in the input
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

// WithoutSeal returns where an answer goes without what only the agent that delivers it can
// open. Nothing is changed.
func (r *Reply) WithoutSeal() *Reply {
	if r == nil || r.ReplyRef == "" {
		return r
	}
	open := *r
	open.ReplyRef = ""
	return &open
}

// RunStarted begins a run.
type RunStarted struct {
	// Retries is the run before it that it is begun in the place of, whose results it brings; 0 is none.
	Retries int `json:"retries,omitzero"`

	Run         int      `json:"run"`
	Profile     string   `json:"profile"`
	ProfileHash string   `json:"profile_hash"`
	Message     Incoming `json:"message"`
	// Expires is when nobody waits for the run any more; zero is never.
	Expires time.Time `json:"expires,omitzero"`
	// Entities are what the session is about now, by name (G-29).
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
	Faults []Reason    `json:"faults"`
}

// Judged is what a judge has said about a run.
type Judged struct {
	Run      int      `json:"run"`
	Question string   `json:"question,omitzero"` // the task that the judge was asked by; none when a review has come to its end
	Occasion Occasion `json:"occasion"`
	Round    int      `json:"round"` // the attempt at the request that it was asked in; 1 is the plan that the run began with. Of a review its own
	Outcome  Outcome  `json:"outcome"`
	// Repeated are the steps of its answer that were done before, so that they are left out.
	Repeated []string `json:"repeated,omitzero"`
	// Issues are what a review has found in its round, and Merged the files that stand instead of several versions.
	Issues []ReviewIssue `json:"issues,omitzero"`
	Merged []MergedFile  `json:"merged,omitzero"`
}

// ReviewBegan has what a run has made looked at.
type ReviewBegan struct {
	Run   int `json:"run"`
	Round int `json:"round"` // 1 is the first of the run; no number comes twice
	// Forced says that the run has taken all of its steps: whatever is found, nothing more is done.
	Forced bool `json:"forced,omitzero"`
}

// A ReviewIssue is one thing that a review has found.
type ReviewIssue struct {
	Check    string   `json:"check,omitzero"`   // the agent that has found it; empty is a rule
	Severity string   `json:"severity"`         // ValidationError, ValidationWarning or info
	Message  string   `json:"message,omitzero"` // what an agent has found, cut; tainted
	Reasons  []Reason `json:"reasons,omitzero"` // what a rule has found, or why a check was not made
	File     string   `json:"file,omitzero"`
	Line     int      `json:"line,omitzero"`
	Task     string   `json:"task,omitzero"` // whose result it is in, by the root of what has mended that; empty is nobody's
	// Tasks are those whose versions of the file could not become one, in the order of the agents in the message.
	Tasks []string `json:"tasks,omitzero"`
}

// A MergedFile stands instead of several versions of a file.
type MergedFile struct {
	Path        string      `json:"path"`
	Of          []string    `json:"of"` // the tasks whose versions they were, or the questions that had merged them
	Agent       string      `json:"agent"`
	Deliverable Deliverable `json:"deliverable"`
}

// PlanChanged puts other tasks in the place of those that were not begun, each of which a TaskSkipped names.
type PlanChanged struct {
	Run    int      `json:"run"`
	Change int      `json:"change"` // its number in the run; the tasks that are new have ids c<change>.<id>
	Source Occasion `json:"source"`
	// Tasks are new. Kept are those that were not begun and stay.
	Tasks []PlannedTask `json:"tasks,omitzero"`
	Kept  []string      `json:"kept,omitzero"`
	// Replaces are the failures that the judge was told: the run does not fail by them any more.
	Replaces []string `json:"replaces,omitzero"`
}

// Occasion is what a judge is asked for.
type Occasion string

// The occasions.
const (
	OccasionStep    Occasion = "step"    // a step has ended
	OccasionFailure Occasion = "failure" // a task has failed for good
	OccasionReview  Occasion = "review"  // all is done, and is looked at
	OccasionMerge   Occasion = "merge"   // several versions of a file are to become one
	OccasionSummary Occasion = "summary" // the results are to be told
	OccasionPerson  Occasion = "person"  // none: a person has said what is to be done instead of what has failed
	OccasionFix     Occasion = "fix"     // none: what a failed task has found is mended
)

// Outcome is what a judge has decided.
type Outcome string

// The outcomes.
const (
	OutcomePlan     Outcome = "plan"     // the run goes on by the plan of the answer
	OutcomeResponse Outcome = "response" // the answer holds the words for whoever has asked, and the run ends
	OutcomePassed   Outcome = "passed"   // what was looked at is right: the run goes on by its plan, and without what has failed
	OutcomeFailed   Outcome = "failed"   // it is not: the run ends after a step, a failure stays one, and of a review Issues say why
)

// Reasons of TaskSkipped.
const (
	SkippedDependency = "dependency" // a task that it depends on has ended without what it needs
	SkippedReplanned  = "replanned"  // another plan has replaced it
	SkippedForgone    = "forgone"    // it has failed, and the run goes on without it, as the profile, a person or an evaluator says
	SkippedStepLimit  = "step_limit" // the run has taken as many steps as it may, and what is there is reviewed
)

// A Review has what a run has made looked at before it is answered.
type Review struct {
	When ReviewWhen `json:"when,omitzero"` // every run when empty
	// Rounds bounds how often a run goes back to work for what was found.
	Rounds int `json:"rounds,omitzero"`
	// Merge is asked to make one file of several versions; without it these are a conflict.
	Merge string `json:"merge,omitzero"`
	// Agree are members of the data of results that have one value in all of them.
	Agree    []string       `json:"agree,omitzero"`
	Checks   []Check        `json:"checks,omitzero"`
	OnFailed OnReviewFailed `json:"on_failed,omitzero"` // fail when empty
}

// MaxReviewRounds bounds the rounds of a review.
const MaxReviewRounds = 64

// A Check is an agent that says what is wrong with what a run has made. It answers requests of KindJudge.
type Check struct {
	Agent string `json:"agent"`
	// For are the types of project that it is asked for, by the constraint "project_type" of the tasks; every one when empty.
	For []string `json:"for,omitzero"`
}

// ReviewWhen is which runs are reviewed.
type ReviewWhen string

// ReviewComplex are those of complex requests, or without a complexity check those whose plans have several tasks.
const ReviewComplex ReviewWhen = "complex"

// OnReviewFailed says how a run ends whose review has failed for good.
type OnReviewFailed string

// How it ends.
const (
	ReviewFails   OnReviewFailed = "fail"    // it has failed
	ReviewPartial OnReviewFailed = "partial" // its results are told, with what was found
	ReviewAsks    OnReviewFailed = "ask"     // people of Profile.Escalation are asked, and else it is as by ReviewFails
)

// A Summary says who tells the results of several tasks in one text: an agent, or else a template (Go text/template) over
// {"tasks": [{"task", "agent", "text", "data"}]}. When neither can, each result is told.
type Summary struct {
	Agent    string `json:"agent,omitzero"` // answers requests of KindJudge
	Template string `json:"template,omitzero"`
}

// Replan says who judges a run, and when.
type Replan struct {
	Agent string   `json:"agent"` // answers requests of KindJudge
	After Occasion `json:"after"`
	// Attempts bounds the attempts at the request, of which the plan that a run begins with is the first and each change
	// is one more; 0 leaves it to the limit of steps.
	Attempts   int         `json:"attempts,omitzero"`
	Conditions []Condition `json:"conditions,omitzero"`
}

// A Condition is something that judges are told. Its value is Constant, or else what the newest result of the run has at Pointer.
type Condition struct {
	Name     string         `json:"name"`
	Pointer  string         `json:"pointer,omitzero"` // a JSON Pointer (RFC 6901) into the data of results
	Constant jsontext.Value `json:"constant,omitzero"`
	End      bool           `json:"end,omitzero"` // when its value is true the run ends with what is there
}

// A Verdict says where the data of an agent tells whether what it has looked at is right. Where false stands at Pointer the
// task has failed, and what stands at Detail is why.
type Verdict struct {
	Pointer string `json:"pointer"` // JSON Pointers (RFC 6901)
	Detail  string `json:"detail,omitzero"`
}

// DefaultSteps is how many steps a run with a judge has, unless the profile says otherwise: the planner, and 24 times a
// task with what is judged of it.
const DefaultSteps = 50

// StepLimit is how many steps a run may take; 0 is no limit. A step is a plan, a task or a judgement that an agent was
// asked for, however many attempts it has taken.
func (p *Profile) StepLimit() int {
	if p.Replan == nil && p.Review == nil && (p.Escalation == nil || p.Execution.Mode == ExecutionSingle) {
		return 0
	}
	return cmp.Or(p.Execution.Steps, DefaultSteps)
}

// A PlannedTask is one task of a plan before it is routed.
type PlannedTask struct {
	Task         string   `json:"task"` // its id inside the run
	Description  Content  `json:"description"`
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
	Fixes              string         `json:"fixes,omitzero"`    // the task whose result it mends
	Recovers           string         `json:"recovers,omitzero"` // the failed task that has found what it mends; empty is a review
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
	StopCompleted     StopReason = "completed"
	StopTaskFailed    StopReason = "task_failed"
	StopTimeout       StopReason = "timeout"
	StopNoRoute       StopReason = "no_route"
	StopCancelled     StopReason = "cancelled"
	StopReplyFailed   StopReason = "reply_failed"
	StopDirectAnswer  StopReason = "direct_answer" // answered without an agent (O-13)
	StopInvalidPlan   StopReason = "invalid_plan"
	StopExpired       StopReason = "expired"    // nobody waits any more, or the run's own deadline has passed
	StopSuperseded    StopReason = "superseded" // a newer message took its place
	StopBlocked       StopReason = "blocked"    // it waits for whoever asked
	StopUnavailable   StopReason = "agent_unavailable"
	StopFinished      StopReason = "finished"         // the session was closed (O-13)
	StopRefuted       StopReason = "sender_refuted"   // it was not begun: the sender is forged
	StopRejected      StopReason = "rejected"         // a person who was asked will not
	StopUnapproved    StopReason = "unapproved"       // it would act outside on what comes from outside, and nobody has agreed
	StopBudget        StopReason = "budget_exhausted" // what is left does not fit the budget
	StopGivenUp       StopReason = "answer_given_up"  // its work is done, and a person has given up its answer
	StopInternalFault StopReason = "internal_fault"   // the rules that decide about it have come to no end
	StopNoAnswer      StopReason = "no_answer"        // a person was asked, and nobody has answered
	StopStepLimit     StopReason = "step_limit"       // it has taken as many steps as it may
	StopCondition     StopReason = "condition"        // a condition of the profile has ended it
	StopReviewFailed  StopReason = "review_failed"    // what it has made is not right
	StopPartial       StopReason = "partial_result"   // all is done, and an agent says that it is not all that was asked for
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
	// Notes are what people are told, below the answer, of what agents have said beside their
	// results.
	Notes string `json:"notes,omitzero"`
	// Summary is told instead of the words of the answer's parts.
	Summary string `json:"summary,omitzero"`
}

// An AnswerPart is one piece of an answer.
type AnswerPart struct {
	Task string  `json:"task,omitzero"`
	Body Content `json:"body"`
	Told string  `json:"told,omitzero"` // what people are told of data without words
}

// RunEnded is the last fact of a run.
type RunEnded struct {
	Run     int        `json:"run"`
	Status  RunStatus  `json:"status"`
	Reason  StopReason `json:"reason"`
	Replied string     `json:"replied,omitzero"` // Message-ID or reply id of the delivered answer
	// Final says that a further attempt of whoever is upstream begins anew: a person has cancelled the run.
	Final bool `json:"final,omitzero"`
}

// An Error is a failure told twice: to the person and to programs (G-28).
type Error struct {
	ErrorType ErrorType         `json:"error_type"`
	Message   map[string]string `json:"message"`          // by language tag: for the person, as it was shown
	Reasons   []Reason          `json:"reasons,omitzero"` // their values hold nothing that a person or an agent has written, but names in JSON Pointers
	// InternalDetails are the sentences of Reasons in English, where a program is told the error. No record has it.
	InternalDetails string          `json:"internal_details,omitzero"`
	SuggestedAction SuggestedAction `json:"suggested_action"`
}

// ErrorType is the class of a failure.
type ErrorType string

// The error types (G-28).
const (
	ErrorValidation  ErrorType = "validation"
	ErrorToolFailure ErrorType = "tool_failure"
	ErrorSystem      ErrorType = "system_error"
)

// SuggestedAction is what may help.
type SuggestedAction string

// The suggested actions (G-28).
const (
	ActionRetry              SuggestedAction = "retry"
	ActionEscalate           SuggestedAction = "escalate"
	ActionManualIntervention SuggestedAction = "manual_intervention"
)
