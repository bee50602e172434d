package runlog

import (
	"context"
	"fmt"

	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

// A QueuedError is ErrNoRun of a run that has a message, and not begun: those before it in the conversation come first.
type QueuedError struct {
	Run    string
	Before *workflow.RunHistory // the run under way
}

// Error implements error.
func (e *QueuedError) Error() string {
	return fmt.Sprintf("run %s has not begun: its message waits until run %s has ended; `podium runs show %s` says what that waits for", e.Run, e.Before.ID, e.Before.ID)
}

// Unwrap returns ErrNoRun.
func (e *QueuedError) Unwrap() error { return ErrNoRun }

// queued returns why there is no run of a number: a *QueuedError, or that no message has it.
func (r Reader) queued(ctx context.Context, session string, number int) error {
	name := schemas.RunID(session, number)
	folded := workflow.SessionHistory{Session: session}
	for record, err := range history.LoadSession(ctx, r.Core, session) {
		if err == nil {
			err = folded.Apply(record.Record)
		}
		if err != nil {
			return err
		}
	}
	if under := folded.Run(len(folded.Runs)); under != nil {
		for i := range folded.Messages {
			if message := &folded.Messages[i]; message.Run == number && message.Disposition == schemas.DispositionQueued {
				return &QueuedError{Run: name, Before: under}
			}
		}
	}
	return noRun(name)
}
