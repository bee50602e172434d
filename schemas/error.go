package schemas

// An Error is a failure told twice: to the person and to the log (G-28).
type Error struct {
	ErrorType       ErrorType         `json:"error_type"`
	Message         map[string]string `json:"message"`          // by language tag: for the person
	InternalDetails string            `json:"internal_details"` // English: for the log, no personal data
	SuggestedAction SuggestedAction   `json:"suggested_action"`
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
