package schemas

import "time"

// A TaskPlan is the plan of a run as a person reads it (O-22…O-24).
type TaskPlan struct {
	Created  time.Time  `json:"created"`
	Question string     `json:"question"`
	Tasks    []TaskStep `json:"tasks"`
}

// A TaskStep is one line of a task plan.
type TaskStep struct {
	StepNumber  int        `json:"step_number"` // 1 is first
	Agent       string     `json:"agent"`
	Description string     `json:"description"`
	Status      StepStatus `json:"status"`
}

// StepStatus is the state of a step, in the words of a task plan.
type StepStatus string

// The step statuses (O-22).
const (
	StepPending    StepStatus = "pending"
	StepInProgress StepStatus = "in_progress"
	StepCompleted  StepStatus = "completed"
	StepFailed     StepStatus = "failed"
)
