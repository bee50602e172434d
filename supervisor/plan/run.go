package plan

import (
	"time"

	"podium/schemas"
)

// Phase is how far a run is (P-12).
type Phase string

// The phases.
const (
	PhaseDecomposing Phase = "decomposing" // no plan yet
	PhaseRouting     Phase = "routing"     // a plan, not every task has an agent
	PhaseExecuting   Phase = "executing"   // tasks are under way
	PhaseAssembling  Phase = "assembling"  // the outcome is fixed, the answer is being delivered
	PhaseComplete    Phase = "complete"
)

// TaskState is how far a task is (REQUIREMENTS section 7).
type TaskState string

// The states of a task.
const (
	TaskPending    TaskState = "pending"
	TaskDispatched TaskState = "dispatched" // asked for, nobody has begun
	TaskRunning    TaskState = "running"
	TaskWaiting    TaskState = "waiting" // for its next attempt
	TaskCompleted  TaskState = "completed"
	TaskFailed     TaskState = "failed"
	TaskSkipped    TaskState = "skipped"
	TaskCancelled  TaskState = "cancelled"
)

// Ended reports whether nothing more happens to a task in this state.
func (s TaskState) Ended() bool {
	switch s {
	case TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled:
		return true
	case TaskPending, TaskDispatched, TaskRunning, TaskWaiting:
	}
	return false
}

// DeliveryTask is the id of the task that delivers the answer. It is not part
// of the plan.
const DeliveryTask = "reply"

// A Run is all that is known about one piece of work: the fold of its facts.
type Run struct {
	Number      int                  `json:"number"`
	Profile     string               `json:"profile"`
	ProfileHash string               `json:"profile_hash"`
	Message     schemas.Incoming     `json:"message"`
	Phase       Phase                `json:"phase"`
	Tasks       []Task               `json:"tasks,omitzero"`
	Delivery    *Task                `json:"delivery,omitzero"`
	Status      schemas.RunStatus    `json:"status,omitzero"`
	Reason      schemas.StopReason   `json:"reason,omitzero"`
	Answer      []schemas.AnswerPart `json:"answer,omitzero"`
	Error       *schemas.Error       `json:"error,omitzero"`
}

// A Task is one piece of work for one agent.
type Task struct {
	ID           string              `json:"id"`
	Description  schemas.Body        `json:"description,omitzero"`
	Dependencies []string            `json:"dependencies,omitzero"`
	Agent        string              `json:"agent,omitzero"`
	State        TaskState           `json:"state"`
	Attempt      int                 `json:"attempt,omitzero"`
	Request      string              `json:"request,omitzero"` // of the current attempt
	Due          time.Time           `json:"due,omitzero"`     // when the current wait is over
	Percentage   int                 `json:"percentage,omitzero"`
	Note         string              `json:"note,omitzero"` // the agent's last line
	Result       schemas.Body        `json:"result,omitzero"`
	Failure      schemas.FailureKind `json:"failure,omitzero"` // of the last attempt
	Detail       string              `json:"detail,omitzero"`  // of the last attempt
}

// Task returns the task with that id, the delivery included, or nil.
func (r *Run) Task(id string) *Task {
	if id == DeliveryTask {
		return r.Delivery
	}
	for i := range r.Tasks {
		if r.Tasks[i].ID == id {
			return &r.Tasks[i]
		}
	}
	return nil
}

// Clone returns a copy that shares nothing which Apply changes.
func (r *Run) Clone() *Run {
	clone := *r
	clone.Tasks = append([]Task(nil), r.Tasks...)
	if r.Delivery != nil {
		delivery := *r.Delivery
		clone.Delivery = &delivery
	}
	return &clone
}

// Deadlines returns what the run waits for, in the order of its tasks.
func (r *Run) Deadlines() []schemas.Deadline {
	var deadlines []schemas.Deadline
	for i := range r.Tasks {
		deadlines = r.appendDeadline(deadlines, &r.Tasks[i])
	}
	if r.Delivery != nil {
		deadlines = r.appendDeadline(deadlines, r.Delivery)
	}
	return deadlines
}

func (r *Run) appendDeadline(deadlines []schemas.Deadline, task *Task) []schemas.Deadline {
	kind, waits := task.State.deadline()
	if !waits {
		return deadlines
	}
	return append(deadlines, schemas.Deadline{
		Run: r.Number, Task: task.ID, Attempt: task.Attempt, Kind: kind, At: task.Due,
	})
}

func (s TaskState) deadline() (kind schemas.DeadlineKind, waits bool) {
	switch s {
	case TaskDispatched:
		return schemas.DeadlineQueue, true
	case TaskRunning:
		return schemas.DeadlineWork, true
	case TaskWaiting:
		return schemas.DeadlineRetry, true
	case TaskPending, TaskCompleted, TaskFailed, TaskSkipped, TaskCancelled:
	}
	return "", false
}
