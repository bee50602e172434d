package schemas

import "time"

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
	Kind  TaskKind `json:"kind,omitzero"` // of what is no task of the plan
	// About is there as Kind is, where the kind alone does not say what the task is about.
	About *TaskAbout `json:"about,omitzero"`
	// Until is when a question counts as unanswered though nobody could be asked,
	// so that no decision waits for it any longer (P-09); zero is never.
	Until time.Time `json:"until,omitzero"`
	// Held says that it waits for its run's budget, and asks for no grant: what is under way may leave some of what is reserved.
	Held bool `json:"held,omitzero"`
	// Day is what it needs of the budget of a day, which a grant brings; nil is nothing. Held with it, it waits for that budget.
	Day *DayClaim `json:"day,omitzero"`
}

// TaskDispatched says that a request goes out. The request itself is a pure
// function of the state and this fact.
type TaskDispatched struct {
	Run   int      `json:"run"`
	Task  string   `json:"task"`
	Agent string   `json:"agent"`
	Kind  TaskKind `json:"kind,omitzero"` // of what is no task of the plan
	// About is there as Kind is, where the kind alone does not say what the task is about.
	About   *TaskAbout `json:"about,omitzero"`
	Attempt int        `json:"attempt"`
	Request string     `json:"request"` // message_id of the request
	Effect  string     `json:"effect"`  // effectid: the same for every attempt
	Expires time.Time  `json:"expires"` // the queue deadline and the work deadline together
	Queue   time.Time  `json:"queue"`   // by when it must have begun
	// Permitted says that the request brings the permit for its effect along.
	Permitted bool `json:"permitted,omitzero"`
	// Told is the hash of what the agent is told, when it may answer by a callback: its answer counts for any
	// attempt of the task, and for one of a later run for the same effect that is told the same.
	Told string `json:"told,omitzero"`
	// Approval is the inquiry by which somebody has agreed to it; 0 is none. Every attempt for one effect may have the same.
	Approval int `json:"approval,omitzero"`
	// Reserved is what the request may use, where the profile has a budget; nil for what tells people something, which only counts.
	Reserved *Usage `json:"reserved,omitzero"`
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
	// WaitingUntil is until when it waits and takes no place, as it says (AgentUse.Supervisor).
	WaitingUntil time.Time `json:"waiting_until,omitzero"`
}

// TaskProgressed says how far an agent is.
type TaskProgressed struct {
	Run        int    `json:"run"`
	Task       string `json:"task"`
	Attempt    int    `json:"attempt"`
	Percentage int    `json:"percentage"`
	Message    string `json:"message,omitzero"`
}

// TaskHeartbeat says that an agent which promised signs of life has given one, or that one waits from now on, or does not any more.
type TaskHeartbeat struct {
	Run     int       `json:"run"`
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Silence time.Time `json:"silence,omitzero"` // when it counts as crashed without another one; zero is never
	// WaitingUntil is said at TaskStarted. Zero ends what was said before.
	WaitingUntil time.Time `json:"waiting_until,omitzero"`
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
	Run     int     `json:"run"`
	Task    string  `json:"task"`
	Attempt int     `json:"attempt"`
	Result  Content `json:"result"`
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
	Sequence uint64   `json:"sequence,omitzero"` // of the answer
	Partial  bool     `json:"partial,omitzero"`  // it is not all that was asked for, as the agent says
	// Findings are there when the agent has said any. In JSON they are members of the fact.
	Findings *Findings `json:",embed"`
	// Told is the hash of what whoever has done it was told, in a run whose upstream may ask once more.
	Told string `json:"told,omitzero"`
	// Brought is the earlier run for the same effect that has completed the task; nobody was asked now. Permit is what
	// its effect was permitted by.
	Brought int    `json:"brought,omitzero"`
	Permit  string `json:"permit,omitzero"`
	Usage   *Spent `json:"usage,omitzero"` // where the profile has a budget
}

// TaskFailed ends an attempt; a task without RetryAt has failed for good.
type TaskFailed struct {
	Run     int         `json:"run"`
	Task    string      `json:"task"`
	Attempt int         `json:"attempt"`
	Cause   FailureKind `json:"cause"`
	Detail  string      `json:"detail,omitzero"`  // what the agent has said, cut; tainted
	Reasons []Reason    `json:"reasons,omitzero"` // what Podium says of it
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
	Tokens     int    `json:"tokens,omitzero"` // used, as the agent says
	// Needs are what the agent lacks, and Operation what it proposes, when it is blocked.
	Needs     []Need     `json:"needs,omitzero"`
	Operation *Operation `json:"operation,omitzero"`
	// Result is what the agent has made, of a FailureVerdict: it says what is not right.
	Result Content  `json:"result,omitzero"`
	Proven []string `json:"proven,omitzero"` // artifacts that Result names and that a judge may read
	// Recovering says that the task is blocked, and has not ended: what is done about it says what becomes of it. Unrecovered, in a further failure of the
	// same attempt, says that this has not helped.
	Recovering  RecoveryWay `json:"recovering,omitzero"`
	Unrecovered RecoveryWay `json:"unrecovered,omitzero"`
	// AttemptsUsed is there when this was the last attempt that the profile allows: how many there were (M-27).
	AttemptsUsed int `json:"attempts_used,omitzero"`
	// Findings are there when the agent has said any. In JSON they are members of the fact.
	Findings *Findings `json:",embed"`
	// Usage is there where the profile has a budget and an agent has answered. Without an answer what was reserved stays so.
	Usage *Spent `json:"usage,omitzero"`
}

// Undone reports whether the agent has said that the attempt came to nothing, so
// that its effect may be permitted to another one as if it were the first.
func (f *TaskFailed) Undone() bool {
	switch f.Cause {
	case FailureAgent, FailurePermanent, FailureBlocked, FailureUnapproved:
		return !f.EffectUnknown
	case FailureTimeout, FailureNotStarted, FailureNoRoute, FailureInvalidResult, FailureCrashed,
		FailureUnavailable, FailureArguments, FailureUnknownEffect, FailureMalformed, FailureRejected, FailureVerdict, FailureConflict, FailureBudget:
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
	CategoryInput        FailureCategory = "input" // a person has to say more
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
	RecoveryEscalateToCoordinator Recovery = "escalate_to_coordinator" // whoever asked is told, or the people of Escalation.Coordinator are asked
	RecoveryEscalateToHuman       Recovery = "escalate_to_human"       // the people of Escalation.Human are asked
	RecoveryAskRequester          Recovery = "ask_requester"           // whoever has begun the run is asked
	RecoveryRequestFix            Recovery = "request_fix"             // whoever is responsible mends what was found
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
	FailureCrashed       FailureKind = "crashed"           // its signs of life have stopped, or it says that it has crashed over it
	FailureUnavailable   FailureKind = "unavailable"       // its circuit breaker is open: it was not asked
	FailureBlocked       FailureKind = "blocked"           // the agent says that it waits for somebody else
	FailureArguments     FailureKind = "invalid_arguments" // they break the agent's schema: it was not asked
	FailureUnknownEffect FailureKind = "unknown_effect"    // it may have happened, and the profile wants to be asked
	FailureRejected      FailureKind = "rejected"          // a person who was asked will not
	FailureMalformed     FailureKind = "malformed"         // the answer cannot be read, and is in quarantine
	FailureUnapproved    FailureKind = "unapproved"        // it would act outside on what comes from outside, and nobody has agreed
	FailureConflict      FailureKind = "conflict"          // several versions of a file could not become one
	FailureBudget        FailureKind = "budget"            // it does not fit the budget: it was not asked
	FailureVerdict       FailureKind = "verdict"           // what the agent has looked at is not right, see AgentUse.Verdict
)

// Answered reports whether an attempt has failed by what its agent has said of it.
func (k FailureKind) Answered() bool {
	switch k {
	case FailureAgent, FailurePermanent, FailureBlocked, FailureInvalidResult, FailureUnapproved, FailureVerdict, FailureConflict:
		return true
	case FailureTimeout, FailureNotStarted, FailureNoRoute, FailureCrashed, FailureBudget, FailureUnavailable, FailureArguments, FailureUnknownEffect, FailureMalformed,
		FailureRejected:
	}
	return false
}

// TaskSkipped says that a task is not done.
type TaskSkipped struct {
	Run    int    `json:"run"`
	Task   string `json:"task"`
	Reason string `json:"reason"`
	// Dependency is the task that has ended without what this one needs, if that is the reason.
	Dependency string `json:"dependency,omitzero"`
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
	// Agent is who has answered. It need not be the agent that was asked: the session keeps of the runs
	// that are over only that they were.
	Agent string `json:"agent,omitzero"`
	// Undone says that the answer is about an UncertainLetter, and that it has not gone out.
	Undone bool `json:"undone,omitzero"`
	// Usage is there where something was still reserved for the request.
	Usage *Spent `json:"usage,omitzero"`
}

// EntityMismatched flags an answer that speaks about another entity than the
// session does (G-30).
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
	Call    string `json:"call,omitzero"`  // what is to be done, as far as the agent names it (Action.Call)
}

// PermitRefused keeps an agent from acting outside.
type PermitRefused struct {
	Run     int          `json:"run"`
	Task    string       `json:"task"`
	Attempt int          `json:"attempt"`
	Permit  string       `json:"permit"`
	Reason  PermitReason `json:"reason"`
	Agent   string       `json:"agent"`         // who has asked
	Call    string       `json:"call,omitzero"` // what was to be done, as far as the agent names it (Action.Call)
}

// Usage is what work costs: what it has used, what it may use, or what is reserved for it. Each part is at most MaxUsage.
type Usage struct {
	Tokens       int64 `json:"tokens,omitzero"`
	Milliseconds int64 `json:"milliseconds,omitzero"` // of working time
	CostMicros   int64 `json:"cost_micros,omitzero"`  // millionths of the unit of money
}

// MaxUsage bounds each part of a Usage, so that no sum overflows and JSON tells all of it.
const MaxUsage = int64(1_000_000_000_000_000)

// Plus returns the sum of both.
func (u Usage) Plus(other Usage) Usage {
	return Usage{min(u.Tokens+other.Tokens, MaxUsage), min(u.Milliseconds+other.Milliseconds, MaxUsage), min(u.CostMicros+other.CostMicros, MaxUsage)}
}

// Less returns what is left without another one; no part is below 0.
func (u Usage) Less(other Usage) Usage {
	return Usage{max(u.Tokens-other.Tokens, 0), max(u.Milliseconds-other.Milliseconds, 0), max(u.CostMicros-other.CostMicros, 0)}
}

// SpentBy returns what a fact says that a request has used, or nil.
func SpentBy(f Fact) *Spent {
	switch f := f.(type) {
	case *TaskCompleted:
		return f.Usage
	case *TaskFailed:
		return f.Usage
	case *InquiryOpened:
		return f.Usage
	case *ResponseLate:
		return f.Usage
	default:
	}
	return nil
}

// Spent is what a request has used, or counts as having used where its agent has not said it. It settles what was reserved for it.
type Spent struct {
	Request string `json:"request"`
	Day     string `json:"day,omitzero"` // in whose budget it was reserved, too; empty is none
	Usage
}
