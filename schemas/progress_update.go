package schemas

import "time"

// A ProgressUpdate tells how far the work is (M-14, M-15).
type ProgressUpdate struct {
	Envelope
	Payload ProgressPayload `json:"payload"`
}

// ProgressPayload places every task in exactly one of its lists.
type ProgressPayload struct {
	PlanID             string           `json:"plan_id"`
	ProgressPercentage int              `json:"progress_percentage"` // 0–100
	TasksCompleted     []string         `json:"tasks_completed"`
	TasksInProgress    []TaskInProgress `json:"tasks_in_progress"`
	TasksPending       []string         `json:"tasks_pending"`
	TasksBlocked       []TaskBlocked    `json:"tasks_blocked"`
	TasksFailed        []string         `json:"tasks_failed,omitzero"`
	TasksSkipped       []string         `json:"tasks_skipped,omitzero"`
	ResourceUsage      *ResourceUsage   `json:"resource_usage,omitzero"`
	// EstimatedCompletion is when all tasks will be done (M-35), as far as it can be foreseen.
	EstimatedCompletion time.Time `json:"estimated_completion,omitzero"`
	// Message is one line for a person, such as a line that a program printed.
	Message string `json:"message,omitzero"`
}

// TaskInProgress is a task that an agent works on.
type TaskInProgress struct {
	TaskID              string    `json:"task_id"`
	Agent               string    `json:"agent"`
	StartedAt           time.Time `json:"started_at"`
	EstimatedCompletion time.Time `json:"estimated_completion,omitzero"`
}

// TaskBlocked is a task that cannot go on.
type TaskBlocked struct {
	TaskID             string `json:"task_id"`
	Reason             string `json:"reason"`
	RequiresReplanning bool   `json:"requires_replanning"`
}
