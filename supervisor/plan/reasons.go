package plan

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/validation"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// An AnswerError says why an answer cannot be used.
type AnswerError struct{ Reason schemas.Reason }

// Error implements error.
func (e *AnswerError) Error() string { return string(e.Reason.Code) }

func newAnswerError(code schemas.ReasonCode, values ...string) error {
	return &AnswerError{Reason: schemas.Because(code, values...)}
}

// reasonOf returns why an answer cannot be used.
func reasonOf(err error) schemas.Reason {
	if of, is := errors.AsType[*AnswerError](err); is {
		return of.Reason
	}
	return schemas.Because(schemas.AnswerUnreadable, "path", "/")
}

// newFormError says where an answer is not the JSON that is needed. The names in its path are those of a plan.
func newFormError(err error) error {
	if syntax, is := errors.AsType[*jsontext.SyntacticError](err); is {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return newAnswerError(schemas.AnswerDuplicateName, "path", pathOf(syntax.JSONPointer))
		}
		return newAnswerError(schemas.AnswerNotJSON, "offset", strconv.FormatInt(syntax.ByteOffset, 10))
	}
	if semantic, is := errors.AsType[*json.SemanticError](err); is {
		path := pathOf(semantic.JSONPointer)
		if wanted := validation.TypeFor(semantic.GoType); wanted != "" && semantic.JSONKind != 0 {
			return newAnswerError(schemas.AnswerWrongType, "path", path, "found", validation.TypeOf(semantic.JSONKind), "wanted", wanted)
		}
		return newAnswerError(schemas.AnswerUnreadable, "path", path)
	}
	return newAnswerError(schemas.AnswerUnreadable, "path", "/")
}

// pathOf returns the place of a pointer in an answer; / is the whole answer.
func pathOf(at jsontext.Pointer) string { return cmp.Or(string(validation.Place(at)), "/") }

// schemaFault says where a value breaks its schema.
func schemaFault(code schemas.ReasonCode, err error) schemas.Reason {
	path, problem := "/", err.Error()
	if at, is := errors.AsType[*validation.Error](err); is {
		path, problem = cmp.Or(at.Pointer, path), at.Reason
	}
	return schemas.Because(code, "path", path, "problem", problem)
}

// boundReasons returns reasons with values of at most so many bytes, up to most bytes and maxReasonCount of them,
// and how many more there are. There is always one, after the heading of a list as well.
func boundReasons(reasons []schemas.Reason, longest, most int) []schemas.Reason {
	var kept []schemas.Reason
	more, least := 0, 1
	for i := range reasons {
		reason := reasons[i].MapValues(func(_, value string) string { return shortened(value, longest) })
		if i == 0 && reason.Code == schemas.PlanHasFaults {
			least = 2
		}
		most -= reason.Size()
		switch {
		case reason.Code == schemas.MoreReasons: // they were bounded before
			left, _ := strconv.Atoi(reason.Values["count"])
			more += left
		case len(kept) >= least && (most < 0 || len(kept) >= maxReasonCount):
			more++
		default:
			kept = append(kept, reason)
		}
	}
	if more > 0 {
		kept = append(kept, schemas.Because(schemas.MoreReasons, "count", strconv.Itoa(more)))
	}
	return kept
}

// Bounds of the reasons in an event: how many there are, and in bytes.
const (
	maxReasonCount   = 50
	maxReasonValue   = 2 << 10
	maxPlanValue     = 256      // a value in a fault of a plan
	maxPlanFaults    = 16 << 10 // all faults of a plan
	maxFailureBytes  = 4 << 10  // all reasons of a failure
	maxRepeatedWords = 512      // what is repeated of a description, or of what an agent has said
)

// withoutNames returns the reasons of a task's failure that the error of its run has too: those whose values neither a person nor an agent
// has written.
func withoutNames(reasons []schemas.Reason) []schemas.Reason {
	safe := []schemas.ReasonCode{
		schemas.Unanswered, schemas.WorkDeclined, schemas.ApprovalRejected, schemas.EffectUnapproved, schemas.ApproversUnreachable, schemas.CircuitOpen, schemas.ResultLanguage,
		schemas.ResultInvalid, schemas.ArgumentInvalid, schemas.ArgumentsNoObject, schemas.ArgumentsTooLong, schemas.ArgumentsUnsendable, schemas.ArgumentFromSession,
		schemas.OutOfBudget, schemas.OutOfDayBudget,
	}
	var kept []schemas.Reason
	for _, why := range reasons {
		switch {
		case slices.Contains(safe, why.Code):
			kept = append(kept, why)
		case why.Code == schemas.ApprovalRejectedBecause:
			kept = append(kept, schemas.Because(schemas.ApprovalRejected))
		}
	}
	return kept
}

// filterForPerson returns the reasons that a person may be told, and whether these are all of them. What an agent or a person has named is
// told only in the person's own language.
func filterForPerson(v *View, reasons []schemas.Reason) (told []schemas.Reason, all bool) {
	named := []schemas.ReasonCode{
		schemas.InputMissing, schemas.CheckFailed, schemas.ValuesDiffer, schemas.DeliverableMissing, schemas.ApprovalRejectedBecause,
	}
	foreign := func(value string) bool { return !fits(v, value) }
	all = true
	for _, why := range reasons {
		switch {
		case !slices.Contains(named, why.Code) || !slices.ContainsFunc(slices.Sorted(maps.Values(why.Values)), foreign):
			told = append(told, why)
		case why.Code == schemas.ApprovalRejectedBecause:
			told, all = append(told, schemas.Because(schemas.ApprovalRejected)), false
		default:
			all = false
		}
	}
	return told, all
}

// failureText tells a program why a task has failed.
func failureText(task *workflow.Task) string {
	failed := task.Failure()
	return say.Failure(say.English(), &failed)
}
