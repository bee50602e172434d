package restore

import (
	"context"
	"slices"

	"podium/bus"
	"podium/schemas"
)

// An Attempt is one of a task of a session's run.
type Attempt struct {
	Run    int
	Task   string
	Number int
}

// IsAnswered reports whether a record of a session says what has come of an answer to an attempt: of the one of that sequence, or of another one. It reads from
// the newest record back to the one that has made the attempt.
func IsAnswered(ctx context.Context, core bus.Core, id string, sequence uint64, of Attempt) (bool, error) {
	said := answers{of: of}
	err := newestFirst(ctx, core, id, func(record *schemas.Record) (enough bool) {
		for _, transition := range slices.Backward(record.Transitions) {
			said.answered = said.answered || !said.made && transition.Cause.Sequence == sequence
			for _, fact := range slices.Backward(transition.Facts) {
				said.before(fact)
			}
		}
		return said.answered || said.made
	})
	return said.answered, err
}

// answers are what facts, the newest first, say of the answers to an attempt.
type answers struct {
	of             Attempt
	completed      bool // the attempt that was made before
	answered, made bool
}

func (a *answers) before(fact schemas.Fact) {
	if a.made || schemas.RunOf(fact) != a.of.Run || schemas.TaskOf(fact) != a.of.Task {
		return
	}
	switch fact := fact.(type) {
	case *schemas.TaskCompleted:
		a.completed = true
	case *schemas.TaskFailed:
		a.answered = a.answered || fact.Attempt == a.of.Number && fact.Cause.Answered()
	case *schemas.ResponseLate:
		a.answered = a.answered || fact.Attempt == a.of.Number
	case *schemas.InquiryOpened:
		a.answered = a.answered || fact.Attempt == a.of.Number
	case *schemas.TaskDispatched:
		a.made = fact.Attempt == a.of.Number
		a.answered = a.answered || a.made && a.completed
		a.completed = false
	default:
	}
}
