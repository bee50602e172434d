package schemas

import "github.com/go-json-experiment/json/jsontext"

// An ExecutionResponse ends one request (M-07…M-13).
type ExecutionResponse struct {
	Envelope
	Payload ResponsePayload `json:"payload"`
}

// ResponsePayload is the outcome of one request.
type ResponsePayload struct {
	Status            ResponseStatus     `json:"status"`
	PlanID            string             `json:"plan_id"`
	ExecutionSummary  *ExecutionSummary  `json:"execution_summary,omitzero"`
	Deliverables      []Deliverable      `json:"deliverables,omitzero"`
	ValidationResults []ValidationResult `json:"validation_results,omitzero"`
	ResourceUsage     *ResourceUsage     `json:"resource_usage,omitzero"`
	IssuesEncountered []Issue            `json:"issues_encountered,omitzero"`
	Recommendations   []string           `json:"recommendations,omitzero"`
	Result            *Result            `json:"result,omitzero"`
	// Needs are what is lacking, and Operation what is proposed, when it is blocked.
	Needs     []Need     `json:"needs,omitzero"`
	Operation *Operation `json:"operation,omitzero"`
}

// Findings are what an agent says beside its result.
type Findings struct {
	Issues            []Issue            `json:"issues,omitzero"`
	ValidationResults []ValidationResult `json:"validation_results,omitzero"`
	Recommendations   []string           `json:"recommendations,omitzero"`
}

// A Need is something that an agent lacks to go on.
type Need struct {
	// Name is for programs: an argument and its members, with dots, such as appointment.date.
	Name     string            `json:"name"`
	Title    string            `json:"title,omitzero"`    // for a person, where there is no question
	Question map[string]string `json:"question,omitzero"` // for a person, by language tag
	Readings []string          `json:"readings,omitzero"` // what was said of it and can be read in several ways
	Schema   jsontext.Value    `json:"schema,omitzero"`   // JSON Schema of the answer
	From     NeededFrom        `json:"from,omitzero"`     // the requester when empty
}

// MaxNeeds bounds the needs of a response.
const MaxNeeds = 32

// NeededFrom is who can say what an agent lacks.
type NeededFrom string

// Who that may be.
const (
	NeededFromRequester  NeededFrom = "requester"
	NeededFromSupervisor NeededFrom = "supervisor"
)

// An Operation is something that an agent would do outside, once a person has agreed.
type Operation struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitzero"` // an object
	Summary   string         `json:"summary,omitzero"`   // for a person, in the agent's own words
	// Recipients are whom it reaches, where the arguments do not say.
	Recipients []string `json:"recipients,omitzero"`
}

// Call names what is proposed, as the permit for it is asked for.
func (o *Operation) Call() (string, error) {
	action := Action{Data: o.Arguments, Recipients: o.Recipients}
	return action.Call()
}

// ResponseStatus is how a request ended (M-07).
type ResponseStatus string

// The response statuses.
const (
	StatusCompleted ResponseStatus = "completed"
	StatusPartial   ResponseStatus = "partial"
	StatusFailed    ResponseStatus = "failed"
	StatusBlocked   ResponseStatus = "blocked"
)

// A Result is what an agent made: text for a person, data for a program, or both.
type Result struct {
	Text      string         `json:"text,omitzero"`
	Data      jsontext.Value `json:"data,omitzero"`
	MediaType string         `json:"media_type,omitzero"` // of Text; text/plain when empty
}

// ExecutionSummary counts tasks (M-08).
type ExecutionSummary struct {
	TasksCompleted       int `json:"tasks_completed"`
	TasksFailed          int `json:"tasks_failed"`
	TasksSkipped         int `json:"tasks_skipped"`
	TotalTasks           int `json:"total_tasks"`
	CompletionPercentage int `json:"completion_percentage"` // 0–100
}

// A Deliverable is a thing that was made (M-09).
type Deliverable struct {
	DeliverableID    string         `json:"deliverable_id"`
	TaskID           string         `json:"task_id,omitzero"`
	Agent            string         `json:"agent,omitzero"`
	Type             string         `json:"type"` // DeliverableCode, …
	Path             string         `json:"path,omitzero"`
	Description      string         `json:"description,omitzero"`
	ValidationStatus string         `json:"validation_status,omitzero"` // passed, failed or skipped
	Metadata         jsontext.Value `json:"metadata,omitzero"`
}

// The types of deliverables (M-09).
const (
	DeliverableCode          = "code"
	DeliverableDocumentation = "documentation"
	DeliverableReport        = "report"
	DeliverableConfig        = "config"
)

// A ValidationResult is one validator's verdict (M-10).
type ValidationResult struct {
	Validator string            `json:"validator"`
	Status    string            `json:"status"` // ValidationPassed or ValidationFailed
	Details   string            `json:"details,omitzero"`
	Issues    []ValidationIssue `json:"issues,omitzero"`
}

// What a validator finds, and how bad it is (M-10).
const (
	ValidationPassed  = "passed"
	ValidationFailed  = "failed"
	ValidationError   = "error"
	ValidationWarning = "warning"
)

// A ValidationIssue is one finding of a validator (M-10).
type ValidationIssue struct {
	Severity string `json:"severity"` // error, warning or info
	Message  string `json:"message"`
	File     string `json:"file,omitzero"`
	Line     int    `json:"line,omitzero"`
}

// ResourceUsage is what the work has cost (M-11).
type ResourceUsage struct {
	TokensUsed          *int               `json:"tokens_used,omitzero"` // nil is that nobody says
	TimeElapsedSeconds  float64            `json:"time_elapsed_seconds"`
	AgentExecutionTimes map[string]float64 `json:"agent_execution_times,omitzero"` // seconds
	CostMicros          int64              `json:"cost_micros,omitzero"`           // millionths of the unit of money; 0 is that nobody says
}

// An Issue is what went wrong, and what became of it (M-12).
type Issue struct {
	IssueID           string     `json:"issue_id,omitzero"`
	TaskID            string     `json:"task_id,omitzero"`
	Agent             string     `json:"agent,omitzero"`
	Severity          string     `json:"severity"` // critical, high, medium or low
	Description       string     `json:"description"`
	Resolution        Resolution `json:"resolution,omitzero"`
	ResolutionDetails string     `json:"resolution_details,omitzero"`
	// EffectUnknown says that what was permitted outside may have happened all the same.
	EffectUnknown bool `json:"effect_unknown,omitzero"`
	// Crashed says that the agent's process has ended while it worked on the attempt, more than once, and gives it up.
	Crashed bool `json:"crashed,omitzero"`
	// Category classifies the failure of an attempt (M-44). Resource says that the
	// agent is well and has no room for this now: it is asked again later, and its
	// circuit breaker does not count it. The others change nothing.
	Category FailureCategory `json:"category,omitzero"`
	// RetryAfterSeconds is how long another attempt had better wait, at most MaxRetryAfter. MaxRetryWait of it counts, of
	// an answer or a question that cannot be sent for want of capacity an hour.
	RetryAfterSeconds int `json:"retry_after_seconds,omitzero"`
	// AttemptsUsed is there when the task has failed because none is left: how many there were (M-27).
	AttemptsUsed int `json:"attempts_used,omitzero"`
}

// Resolution says what became of an issue. On a failed response it also says
// whether another attempt can help: deferred may, escalated cannot.
type Resolution string

// The resolutions (M-12).
const (
	ResolutionResolved  Resolution = "resolved"
	ResolutionEscalated Resolution = "escalated"
	ResolutionDeferred  Resolution = "deferred"
)

// MaxRetryAfter bounds what an agent may ask to wait, in seconds.
const MaxRetryAfter = 86400

// What ResolutionDetails say of a failed response when its agent says nothing of its own.
const (
	DetailsDeferred  = "another attempt may help"
	DetailsEscalated = "no other attempt can help"
)

// DecodeExecutionResponse reads an execution_response with the verdict of its
// schema. Errors are *validation.Error.
func DecodeExecutionResponse(body []byte) (ExecutionResponse, error) {
	return readResponse(body)
}
