package workflow

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// TaskState is how far a task is (REQUIREMENTS section 7).
type TaskState string

// The states of a task.
const (
	TaskPending    TaskState = "pending"    // waits for other tasks
	TaskReady      TaskState = "ready"      // may begin as soon as its agent has room and its resources are free
	TaskDue        TaskState = "due"        // may start, and waits for nothing; no decision leaves a task in this state
	TaskDispatched TaskState = "dispatched" // asked for, nobody has begun
	TaskRunning    TaskState = "running"
	TaskWaiting    TaskState = "waiting" // for its next attempt
	// TaskWaitingInput waits for a person's word on an inquiry.
	TaskWaitingInput TaskState = "waiting_input"
	// TaskWaitingApproval waits until a person has agreed to it.
	TaskWaitingApproval TaskState = "waiting_approval"
	// TaskBlocked has failed, and waits for what is done about that.
	TaskBlocked   TaskState = "blocked"
	TaskCompleted TaskState = "completed"
	TaskFailed    TaskState = "failed"
	TaskSkipped   TaskState = "skipped"
	TaskCancelled TaskState = "cancelled"
)

// Ended reports whether nothing more happens to a task in this state.
func (s TaskState) Ended() bool {
	switch s {
	case TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled:
		return true
	case TaskPending, TaskReady, TaskDue, TaskDispatched, TaskRunning, TaskWaiting, TaskWaitingInput, TaskWaitingApproval, TaskBlocked:
	}
	return false
}

// WaitsForPerson reports whether a person's word is awaited.
func (s TaskState) WaitsForPerson() bool { return s == TaskWaitingInput || s == TaskWaitingApproval }

// Worked reports whether the task was a step of the run that is over: it has a result, or a failure, or its agent was asked.
func (t *Task) Worked() bool {
	return t.State.Ended() && (t.State == TaskCompleted || t.State == TaskFailed || t.Attempt > 0 || t.LastFailure != nil)
}

// endedByRouting reports whether the routers have answered the task themselves, or found nobody for it: no agent was asked to do it.
func (t *Task) endedByRouting() bool {
	answered := t.Agent == schemas.RouteRespond || t.Agent == schemas.RouteFinish
	return t.Attempt == 0 && (answered || t.Failure().Cause == schemas.FailureNoRoute)
}

// UnderWay reports whether an agent has been asked and has not answered.
func (s TaskState) UnderWay() bool { return s == TaskDispatched || s == TaskRunning }

// Unserved says that nobody serves an agent.
type Unserved struct {
	Since time.Time `json:"since,omitzero"` // when it was last there; zero is never
}

// Moment is when that was, for a person who reads it at now: the time of the day in
// UTC, with the date when that was another one. Never is empty.
func (u *Unserved) Moment(now time.Time) string {
	since, layout := u.Since.UTC(), "2006-01-02 15:04 UTC"
	switch {
	case since.IsZero():
		return ""
	case since.Truncate(24 * time.Hour).Equal(now.UTC().Truncate(24 * time.Hour)):
		layout = "15:04 UTC"
	}
	return since.Format(layout)
}

// A Task is one piece of work for one agent.
type Task struct {
	ID      string               `json:"task"`
	Plan    *schemas.PlannedTask `json:"plan,omitzero"`   // what the plan says of it; never changed
	Kind    schemas.TaskKind     `json:"kind,omitzero"`   // of what is no task of the plan
	About   *schemas.TaskAbout   `json:"about,omitzero"`  // of what is no task of the plan; never changed
	Change  int                  `json:"change,omitzero"` // the change of the plan that has added it; 0 is none
	Agent   string               `json:"agent,omitzero"`
	Routed  bool                 `json:"routed,omitzero"`
	Delayed bool                 `json:"delayed,omitzero"` // it takes more than twice its estimate (M-34)
	Partial bool                 `json:"partial,omitzero"` // its result is not all that was asked for, as its agent says
	// Held says that it is ready and waits for the budget, and asks for no grant.
	Held bool `json:"held,omitzero"`
	// Day is what a ready task needs of the budget of a day; nil is nothing.
	Day *schemas.DayClaim `json:"day,omitzero"`
	// Released says that a reply, an approval or the failure of another agent has released it for its next attempt, which it waits for room for. Then no
	// changed plan drops it.
	Released bool `json:"released,omitzero"`
	// Unapproved says that the attempt under way was refused its permit, because nobody has agreed to what it would do.
	Unapproved bool `json:"unapproved,omitzero"`
	// Judged says that a judge was told how it has ended, and Replaced that another plan has taken its place: nothing of the run's
	// outcome is told by it.
	Judged   bool `json:"judged,omitzero"`
	Replaced bool `json:"replaced,omitzero"`
	// Rejections is how often the present agent could not be asked, or had no room. It stands
	// here for the room that a task takes: many thousands are open at a time.
	Rejections int32 `json:"rejections,omitzero"`
	// Inquired is how many attempts of the present agent have ended in an inquiry, which uses up none.
	Inquired int32 `json:"inquired,omitzero"`
	// Round is that of the review which a question is asked in.
	Round int32 `json:"round,omitzero"`
	// Approval is the inquiry by which somebody has agreed to the newest attempt; 0 is none.
	Approval int32 `json:"approval,omitzero"`
	// Retried is the inquiry by which somebody has had it tried once more though its effect may have happened; 0 is none.
	Retried int32     `json:"retried,omitzero"`
	Level   int       `json:"level,omitzero"` // of the graph; the first is 0
	State   TaskState `json:"state"`
	// Attempt counts the requests. UncountedAttempts is how many of them are none of the present
	// agent's: they went to PreviousAgent, whose fallback it is, or found no room, as a delivery may.
	Attempt           int    `json:"attempt,omitzero"`
	UncountedAttempts int    `json:"uncounted_attempts,omitzero"`
	PreviousAgent     string `json:"previous_agent,omitzero"`
	Request           string `json:"request,omitzero"`          // of the current attempt
	PreviousRequest   string `json:"previous_request,omitzero"` // request of the attempt before

	Dispatched time.Time `json:"dispatched,omitzero"`
	Due        time.Time `json:"due,omitzero"`       // when the current wait is over
	Expires    time.Time `json:"expires,omitzero"`   // of the current request
	Slow       time.Time `json:"slow,omitzero"`      // when it takes suspiciously long; zero once that is said
	Silence    time.Time `json:"silence,omitzero"`   // when its agent counts as crashed
	Heartbeat  time.Time `json:"heartbeat,omitzero"` // its agent's last sign of life that is on record
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`

	// Unserved is there while nobody serves the agent that the task waits for, as
	// far as is known.
	Unserved *Unserved `json:"unserved,omitzero"`

	Percentage   int                   `json:"percentage,omitzero"`
	Message      string                `json:"message,omitzero"` // the agent's last line, or why it was skipped
	Result       schemas.Content       `json:"result,omitzero"`
	Reused       uint64                `json:"reused,omitzero"`   // sequence of the earlier answer that is its result (M-29)
	Answered     uint64                `json:"answered,omitzero"` // sequence of the answer that holds its result
	Deliverables []schemas.Deliverable `json:"deliverables,omitzero"`
	Proven       []string              `json:"proven,omitzero"`       // artifacts that the result names and that may be passed on
	Unproven     []string              `json:"unproven,omitzero"`     // files that the agent named and may not pass on
	Tokens       int                   `json:"tokens,omitzero"`       // used by all attempts, as their agents say
	Findings     *schemas.Findings     `json:"findings,omitzero"`     // what its agent has said beside the result
	LastFailure  *schemas.TaskFailed   `json:"last_failure,omitzero"` // the last attempt that has; another one may be under way since
	// Filled are the arguments that were filled; nil while the plan's own hold.
	Filled *schemas.ArgumentsFilled `json:"filled,omitzero"`
	Permit string                   `json:"permit,omitzero"` // the newest that was granted, until the agent says that the attempt failed
	// Asked is what is remembered of its requests; nil is nothing. In JSON its members are those of the task.
	Asked *Asked `json:",embed"`
}

// Subject is what the task is about, as far as its kind does not say that. A nil task is about nothing.
func (t *Task) Subject() schemas.TaskAbout {
	if t == nil || t.About == nil {
		return schemas.TaskAbout{}
	}
	return *t.About
}

// Occasion is what an evaluator is asked for by the task; empty when it asks none.
func (t *Task) Occasion() schemas.Occasion {
	switch t.Kind {
	case schemas.TaskKindEvaluate:
		return schemas.Occasion(t.Subject().Trigger)
	case schemas.TaskKindCheck:
		return schemas.OccasionReview
	case schemas.TaskKindMerge:
		return schemas.OccasionMerge
	case schemas.TaskKindSummarize:
		return schemas.OccasionSummary
	case schemas.TaskKindWork, schemas.TaskKindAssess, schemas.TaskKindPlan, schemas.TaskKindExtract, schemas.TaskKindRoute, schemas.TaskKindNotify, schemas.TaskKindDeliver:
	}
	return ""
}

// HumanTask is the number of the inquiry that the task tells people of; 0 is none.
func (t *Task) HumanTask() int { return t.Subject().HumanTask }

// IsExplanation reports whether the task tells how an inquiry is decided.
func (t *Task) IsExplanation() bool {
	return t.Subject().Notification == schemas.NotificationExplanation
}

// NotifiesPeople reports whether the task tells people something: the answer, or what they are asked.
func (t *Task) NotifiesPeople() bool { return t.Kind.NotifiesPeople() }

// Failure returns LastFailure, or the zero value while no attempt has failed.
func (t *Task) Failure() schemas.TaskFailed {
	if t.LastFailure == nil {
		return schemas.TaskFailed{}
	}
	return *t.LastFailure
}

// Said are the findings of a task that has ended: beside its result, or beside its failure.
func (t *Task) Said() schemas.Findings {
	said := t.Findings
	if t.State == TaskFailed || t.State == TaskSkipped {
		said = t.Failure().Findings
	}
	if said == nil {
		return schemas.Findings{}
	}
	return *said
}

// RetryAt is when the next attempt begins; zero when the task does not wait for that.
func (t *Task) RetryAt() time.Time {
	if t.State != TaskWaiting {
		return time.Time{}
	}
	return t.Due
}

// Arguments are those that its agent is given.
func (t *Task) Arguments() jsontext.Value {
	switch {
	case t.Filled != nil && (t.Filled.Agent == t.Agent || t.Filled.Edited):
		return t.Filled.Values
	case t.Plan == nil:
		return nil
	}
	return t.Plan.Options().Arguments
}

// Description is what the plan says that is to be done, when it stands in the record.
func (t *Task) Description() string {
	if t.Plan == nil {
		return ""
	}
	return t.Plan.Description.Text
}

// AgentOf returns the agent that an attempt was asked of.
func (t *Task) AgentOf(attempt int) string {
	if t.PreviousAgent != "" && attempt <= t.UncountedAttempts {
		return t.PreviousAgent
	}
	return t.Agent
}

// Unbegun reports whether the task waits for its agent.
func (t *Task) Unbegun() bool { return t.State == TaskReady && !t.Held || t.State == TaskDispatched }

// HeldForDay reports whether the task waits for the budget of a day.
func (t *Task) HeldForDay() bool {
	return t.State == TaskReady && t.Held && t.Day != nil && t.Day.Short != nil
}

// Optional reports whether the run can do without the task (settlement 10).
func (t *Task) Optional() bool {
	return t.Plan != nil && (t.Plan.Optional || t.Plan.Priority == schemas.PriorityNiceToHave)
}

// Forgone reports whether the run goes on without the task, as somebody has said.
func (t *Task) Forgone() bool { return t.State == TaskSkipped && t.Message == schemas.SkippedForgone }

// Priority ranks the task among those that may begin; smaller goes first
// (M-17). Whoever waits for an answer or for a decision waits already, so that
// deliveries and questions go before all work.
func (t *Task) Priority() int {
	if t.Plan == nil {
		return -1
	}
	switch t.Plan.Priority {
	case schemas.PriorityCritical:
		return 0
	case schemas.PriorityHigh:
		return 1
	case schemas.PriorityLow:
		return 3
	case schemas.PriorityNiceToHave:
		return 4
	case schemas.PriorityMedium:
	}
	return 2
}

// Resources are what no other task may use while this one is under way (M-19).
func (t *Task) Resources() []string {
	if t.Plan == nil {
		return nil
	}
	return t.Plan.Options().Resources
}

// Dependencies are the tasks that must have ended before this one begins.
func (t *Task) Dependencies() []string {
	if t.Plan == nil {
		return nil
	}
	return t.Plan.Dependencies
}

// Estimate is how long the plan says that the task takes; 0 is unknown.
func (t *Task) Estimate() time.Duration {
	if t.Plan == nil {
		return 0
	}
	return time.Duration(t.Plan.Seconds) * time.Second
}

func (t *Task) deadlines(to []schemas.Deadline, run int) []schemas.Deadline {
	add := func(kind schemas.DeadlineKind, at time.Time) {
		if !at.IsZero() {
			to = append(to, schemas.Deadline{Run: run, Task: t.ID, Attempt: t.Attempt, Kind: kind, At: at})
		}
	}
	switch t.State {
	case TaskReady, TaskDispatched:
		add(schemas.DeadlineQueue, t.Due)
		if t.HeldForDay() {
			add(schemas.DeadlineBudget, schemas.DayEnd(t.Day.Short.Day))
		}
	case TaskRunning:
		add(schemas.DeadlineWork, t.Due)
		add(schemas.DeadlineSilence, t.Silence)
		add(schemas.DeadlineSlow, t.Slow)
	case TaskWaiting:
		add(schemas.DeadlineRetry, t.Due)
	case TaskPending, TaskDue, TaskWaitingInput, TaskWaitingApproval, TaskBlocked, TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled:
	}
	return to
}
