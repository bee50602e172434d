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
	message, err := core.Last(ctx, bus.SessionSubject(id, core.Shards()))
	for err == nil {
		var stored Record
		if stored, err = ReadRecord(ctx, core.Artifacts(), message); err != nil {
			break
		}
		for _, transition := range slices.Backward(stored.Transitions) {
			if transition.Cause.Sequence == sequence {
				return true, nil
			}
			for _, fact := range slices.Backward(transition.Facts) {
				said.before(fact)
			}
		}
		if said.made || stored.Previous == 0 {
			return said.answered, nil
		}
		message, err = core.Get(ctx, message.Stream, stored.Previous)
	}
	return false, err
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
