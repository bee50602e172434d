package schemas

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Run is one piece of work of a session as people read it.
type Run struct {
	ID          string   `json:"id"`
	Session     string   `json:"session"`
	Number      int      `json:"number"` // 1 is first
	Profile     string   `json:"profile"`
	ProfileHash string   `json:"profile_hash"`
	Channel     string   `json:"channel"`
	Message     string   `json:"message"`        // id of the input event that it began with
	Input       uint64   `json:"input,omitzero"` // its sequence in the session's shard
	State       RunState `json:"state"`
	// Status and Reason are set when the work is settled.
	Status     RunStatus  `json:"status,omitzero"`
	Reason     StopReason `json:"reason,omitzero"`
	Started    time.Time  `json:"started"`
	Planned    time.Time  `json:"planned,omitzero"`
	Settled    time.Time  `json:"settled,omitzero"`
	Ended      time.Time  `json:"ended,omitzero"`
	Percentage int        `json:"percentage"` // of the plan's tasks, rounded down (M-33)
	Subject    string     `json:"subject,omitzero"`
	Language   string     `json:"language,omitzero"`
	// Request is the person's words when they stand in the record; else Words
	// says where they are.
	Request    string      `json:"request,omitzero"`
	Words      *Body       `json:"words,omitzero"`
	Complexity *Complexity `json:"complexity,omitzero"`
	Source     PlannerKind `json:"source,omitzero"`      // where the plan comes from
	Template   string      `json:"template,omitzero"`    // its name
	PlanFaults []string    `json:"plan_faults,omitzero"` // of the newest plan that was refused
	Expires    time.Time   `json:"expires,omitzero"`     // when nobody waits any more
	// Entities are what the conversation is about; Mismatches are answers that
	// speak about something else (G-30).
	Entities   map[string]string  `json:"entities,omitzero"`
	Mismatches []EntityMismatched `json:"mismatches,omitzero"`
	Upstream   *Upstream          `json:"upstream,omitzero"` // the request that it answers
	Tasks      []RunTask          `json:"tasks"`
	Decisions  []TaskDecision     `json:"decisions"`
	// Support are the questions that deciding itself has asked agents.
	Support []RunTask `json:"support,omitzero"`
	// Delivery is the task that delivers the answer; it is not part of the plan.
	Delivery *RunTask     `json:"delivery,omitzero"`
	Answer   []AnswerPart `json:"answer,omitzero"`
	Error    *Error       `json:"error,omitzero"`
	Replied  string       `json:"replied,omitzero"` // Message-ID or reply id of the delivered answer
	Late     int          `json:"late,omitzero"`    // answers that came too late to count
	// PermitsRefused are the effects that agents were kept from.
	PermitsRefused []PermitRefused `json:"permits_refused,omitzero"`
	// Withheld says why the answer is not delivered, Bounces what mail systems have
	// reported of it.
	Withheld *ReplyWithheld    `json:"withheld,omitzero"`
	Bounces  []DeliveryBounced `json:"bounces,omitzero"`
	// ResendRequested says that somebody wants the answer sent again, which waits until
	// no other run is under way; Resends counts how often that has begun.
	ResendRequested bool `json:"resend_requested,omitzero"`
	Resends         int  `json:"resends,omitzero"`
}

// RunState is how far a run is.
type RunState string

// The states of a run.
const (
	RunStatePlanning  RunState = "planning"  // no plan yet
	RunStateExecuting RunState = "executing" // its tasks are being done
	RunStateReplying  RunState = "replying"  // the outcome is fixed, the answer is being delivered
	RunStateEnded     RunState = "ended"     // nothing more happens
)

// A RunTask is one task of a run as people read it.
type RunTask struct {
	Task         string       `json:"task"`
	Description  string       `json:"description,omitzero"` // when it stands in the record
	Agent        string       `json:"agent,omitzero"`
	Dependencies []string     `json:"dependencies,omitzero"`
	Kind         TaskKind     `json:"kind,omitzero"` // of what is no task of the plan
	Priority     Priority     `json:"priority,omitzero"`
	Optional     bool         `json:"optional,omitzero"`
	Level        int          `json:"level,omitzero"`     // of the graph; the first is 0 (M-22)
	Resources    []string     `json:"resources,omitzero"` // that no other task may use meanwhile (M-19)
	State        RunTaskState `json:"state"`
	Attempt      int          `json:"attempt,omitzero"`
	Percentage   int          `json:"percentage"`
	Message      string       `json:"message,omitzero"` // the agent's last line
	Dispatched   time.Time    `json:"dispatched,omitzero"`
	Started      time.Time    `json:"started,omitzero"`
	Ended        time.Time    `json:"ended,omitzero"`
	RetryAt      time.Time    `json:"retry_at,omitzero"`
	Failure      FailureKind  `json:"failure,omitzero"` // of the last attempt that failed
	Detail       string       `json:"detail,omitzero"`  // of that failure or of the skip; tainted
	Action       Recovery     `json:"action,omitzero"`  // what was done about the last failure (M-46)
	// FailedAttempt is the attempt that Failure is of; another one may be under way since.
	FailedAttempt int `json:"failed_attempt,omitzero"`
	// Quarantine is the id there of the answer that has failed it, when that cannot be read.
	Quarantine   string        `json:"quarantine,omitzero"`
	Unserved     *Unserved     `json:"unserved,omitzero"` // nobody serves the agent that it waits for
	Delayed      bool          `json:"delayed,omitzero"`  // it takes more than twice its estimate (M-34)
	Reused       uint64        `json:"reused,omitzero"`   // sequence of the earlier answer that stands in (M-29)
	Permit       string        `json:"permit,omitzero"`   // the newest that was granted
	Result       *Body         `json:"result,omitzero"`
	Deliverables []Deliverable `json:"deliverables,omitzero"`
	Unproven     []string      `json:"unproven,omitzero"` // files that its agent named and may not pass on

	routed bool // by the plan
	acting bool // an effect was permitted, and may have happened
}

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

// RunTaskState is how far a task is.
type RunTaskState string

// The states of a task.
const (
	TaskStatePending    RunTaskState = "pending"    // waits for other tasks
	TaskStateReady      RunTaskState = "ready"      // waits for its agent to have room, or for its next attempt
	TaskStateDispatched RunTaskState = "dispatched" // asked for
	TaskStateRunning    RunTaskState = "running"    // an agent works on it
	TaskStateCompleted  RunTaskState = "completed"
	TaskStateFailed     RunTaskState = "failed"
	TaskStateSkipped    RunTaskState = "skipped"
	TaskStateCancelled  RunTaskState = "cancelled"
)

// Ended reports whether nothing more happens to the task.
func (s RunTaskState) Ended() bool {
	switch s {
	case TaskStateCompleted, TaskStateFailed, TaskStateSkipped, TaskStateCancelled:
		return true
	case TaskStatePending, TaskStateReady, TaskStateDispatched, TaskStateRunning:
	}
	return false
}

func (s RunTaskState) underWay() bool { return s == TaskStateDispatched || s == TaskStateRunning }

// A TaskDecision is who does a task, and why.
type TaskDecision struct {
	Task     string        `json:"task"`
	Decision RouteDecision `json:"decision"`
}

// Task returns the task with that id, the delivery included, or nil.
func (r *Run) Task(id string) *RunTask {
	if id == DeliveryTask {
		return r.Delivery
	}
	for i := range r.Tasks {
		if r.Tasks[i].Task == id {
			return &r.Tasks[i]
		}
	}
	for i := range r.Support {
		if r.Support[i].Task == id {
			return &r.Support[i]
		}
	}
	return nil
}

// Decision returns the newest decision about a task, or nil.
func (r *Run) Decision(task string) *RouteDecision {
	for i := len(r.Decisions) - 1; i >= 0; i-- {
		if r.Decisions[i].Task == task {
			return &r.Decisions[i].Decision
		}
	}
	return nil
}

// Agents returns the agents that were asked, each once, in the order of the
// tasks, the delivery last.
func (r *Run) Agents() []string {
	var agents []string
	add := func(task *RunTask) {
		if !task.Dispatched.IsZero() && !slices.Contains(agents, task.Agent) {
			agents = append(agents, task.Agent)
		}
	}
	for i := range r.Tasks {
		add(&r.Tasks[i])
	}
	if r.Delivery != nil {
		add(r.Delivery)
	}
	return agents
}

// progress returns int(completed/total × 100), 0 when there is no task (M-33).
func (r *Run) progress() int {
	if len(r.Tasks) == 0 {
		return 0
	}
	completed := 0
	for i := range r.Tasks {
		if r.Tasks[i].State == TaskStateCompleted {
			completed++
		}
	}
	return completed * 100 / len(r.Tasks)
}

// TaskPlan returns the plan of the run with the states that a task plan knows:
// a task that was skipped or cancelled counts as failed (O-22).
func (r *Run) TaskPlan() TaskPlan {
	plan := TaskPlan{Created: r.Planned, Question: r.Request, Tasks: make([]TaskStep, len(r.Tasks))}
	if plan.Created.IsZero() {
		plan.Created = r.Started
	}
	for i := range r.Tasks {
		task := &r.Tasks[i]
		plan.Tasks[i] = TaskStep{
			StepNumber: i + 1, Agent: task.Agent, Description: task.Description, Status: task.State.step(),
		}
	}
	return plan
}

func (s RunTaskState) step() StepStatus {
	switch s {
	case TaskStateDispatched, TaskStateRunning:
		return StepInProgress
	case TaskStateCompleted:
		return StepCompleted
	case TaskStateFailed, TaskStateSkipped, TaskStateCancelled:
		return StepFailed
	case TaskStatePending, TaskStateReady:
	}
	return StepPending
}

// Markdown returns the plan as a document (O-24). A step that is not pending
// carries its status in parentheses. Words from outside cannot begin a heading,
// a fence or another step.
func (p TaskPlan) Markdown() string {
	var b strings.Builder
	b.WriteString("# Task Plan\n\n**Created:** ")
	b.WriteString(p.Created.UTC().Format(time.DateTime))
	b.WriteString("\n\n## Question\n")
	b.WriteString(plainParagraphs(p.Question))
	b.WriteString("\n\n## Tasks\n\n")
	for _, step := range p.Tasks {
		b.WriteString(strconv.Itoa(step.StepNumber) + ". **" + plainLine(step.Description) + "**")
		if step.Agent != "" {
			b.WriteString(" `" + step.Agent + "`")
		}
		if step.Status != StepPending {
			b.WriteString(" (" + string(step.Status) + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plainParagraphs keeps lines and escapes what would make one a heading or a fence.
func plainParagraphs(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	for i, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		underline := len(trimmed) > 0 && strings.Trim(trimmed, "=- ") == ""
		if underline || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "`") || strings.HasPrefix(trimmed, "~") {
			lines[i] = `\` + trimmed
		}
	}
	return strings.Join(lines, "\n")
}

// plainLine puts text on one line and keeps it from ending its emphasis.
func plainLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "**", `\*\*`)
}
