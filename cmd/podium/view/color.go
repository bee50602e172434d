package view

import (
	"podium/schemas"
	"podium/schemas/workflow"
)

// The sequences that begin a color, and the one that ends it (ECMA-48, SGR). They are
// among the eight that every terminal with colors has, and that its owner has chosen.
const (
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Cyan   = "\x1b[36m"
	Reset  = "\x1b[0m"
)

// A pen writes in colors, or without.
type pen struct{ colors bool }

func (p pen) in(color, text string) string {
	if !p.colors || color == "" {
		return text
	}
	return color + text + Reset
}

// look is how the state of a task is shown: its mark, and its color, where it has one.
func look(state workflow.TaskState) (mark, color string) {
	switch state {
	case workflow.TaskCompleted:
		return "✓", Green
	case workflow.TaskFailed:
		return "✗", Red
	case workflow.TaskSkipped, workflow.TaskCancelled:
		return "–", Yellow
	case workflow.TaskDispatched, workflow.TaskRunning:
		return "▸", Cyan
	case workflow.TaskWaitingInput, workflow.TaskWaitingApproval, workflow.TaskBlocked:
		return "?", Yellow
	case workflow.TaskPending, workflow.TaskReady, workflow.TaskDue, workflow.TaskWaiting:
	}
	return "·", ""
}

// runColor is that of what came of a run; of one that is under way it has none.
func runColor(status schemas.RunStatus) string {
	switch status {
	case schemas.RunCompleted:
		return Green
	case schemas.RunFailed:
		return Red
	case schemas.RunPartial, schemas.RunBlocked, schemas.RunCancelled:
		return Yellow
	}
	return ""
}
