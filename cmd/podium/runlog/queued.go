package runlog

import (
	"context"
	"errors"
	"fmt"

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

// queued returns why there is no run of a number that has a message: those before it come first.
func (r Reader) queued(ctx context.Context, session string, number int) error {
	for before := number - 1; before > 0; before-- {
		under, err := r.run(ctx, session, before)
		if queued, is := errors.AsType[*QueuedError](err); is {
			under, err = queued.Before, nil
		}
		switch {
		case err != nil:
			return err
		case under != nil:
			return &QueuedError{Run: schemas.RunID(session, number), Before: under}
		}
	}
	return noRun(schemas.RunID(session, number))
}
