package schemas

import (
	"strconv"
	"time"

	"podium/schemas/validation"
)

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
	// WaitingUntil says that the work goes on elsewhere: until then the agent gives no sign of life. It
	// counts for an agent whose use says Async, and moves no other deadline. Of one whose use says Supervisor it says that
	// nothing of the work goes on without a person, or before another day: until when the first of that is waited for.
	WaitingUntil time.Time `json:"waiting_until,omitzero"`
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

// DecodeProgressUpdate reads a progress_update with the verdict of its schema,
// and refuses one that places a task twice (M-15). Errors are
// *validation.Error.
func DecodeProgressUpdate(body []byte) (ProgressUpdate, error) {
	update, err := readProgress(body)
	if err == nil {
		err = update.Payload.checkPlaces()
	}
	if err != nil {
		return ProgressUpdate{}, err
	}
	return update, nil
}

// checkPlaces refuses a task that stands in two of the lists or twice in one (M-15).
func (p *ProgressPayload) checkPlaces() error {
	seen := map[string]bool{}
	var problem error
	place := func(list string, i int, task string) {
		if seen[task] && problem == nil {
			problem = &validation.Error{
				Pointer: "/payload/" + list + "/" + strconv.Itoa(i),
				Reason:  "names a task that is placed already",
			}
		}
		seen[task] = true
	}
	for i, task := range p.TasksCompleted {
		place("tasks_completed", i, task)
	}
	for i := range p.TasksInProgress {
		place("tasks_in_progress", i, p.TasksInProgress[i].TaskID)
	}
	for i, task := range p.TasksPending {
		place("tasks_pending", i, task)
	}
	for i := range p.TasksBlocked {
		place("tasks_blocked", i, p.TasksBlocked[i].TaskID)
	}
	for i, task := range p.TasksFailed {
		place("tasks_failed", i, task)
	}
	for i, task := range p.TasksSkipped {
		place("tasks_skipped", i, task)
	}
	return problem
}

// A Partial is the text of a result as far as an agent has it, for a request whose context says Stream. It is
// a signal: nothing stores it, and it may be missed.
type Partial struct {
	Request string `json:"request"` // message_id of the ExecutionRequest
	// Offset is where Text begins, in bytes from the beginning of the result. What was said from there on is replaced.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// MaxPartial bounds the text that a request has while it comes, in bytes; what is beyond comes with the result.
const MaxPartial = 64 << 10
