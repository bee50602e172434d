package runlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

// ErrNoInquiry reports that a run has not asked what is named.
var ErrNoInquiry = errors.New("there is no such question")

// A NamedInquiry is an inquiry of a run that a person has named.
type NamedInquiry struct {
	Run    *workflow.RunHistory
	Number int
}

// ID is the inquiry's id.
func (n NamedInquiry) ID() string { return schemas.InquiryID(n.Run.ID, n.Number) }

// Inquiry returns what was asked, and what has become of it.
func (n NamedInquiry) Inquiry() *workflow.Inquiry { return n.Run.Inquiry(n.Number) }

// Inquiry reads what a person names: an inquiry by <run>.<k>, or by the run alone the one that is open, else the
// newest. The beginning of the run's id is enough. The error is ErrNoRun, ErrNoInquiry or a NameError when that fails.
func (r Reader) Inquiry(ctx context.Context, name string) (NamedInquiry, error) {
	of, digits, numbered := strings.Cut(name, ".")
	number, err := strconv.Atoi(digits)
	if numbered && (err != nil || number < 1) {
		return NamedInquiry{}, &NameError{fmt.Sprintf("%q is not the number of a question; `podium inbox` lists the ids, such as 5f0c….1", digits)}
	}
	run, err := r.Run(ctx, of)
	if err != nil {
		return NamedInquiry{}, err
	}
	found := NamedInquiry{run, number}
	var open []string
	for _, inquiry := range run.Inquiries {
		if inquiry.Open() {
			open, found.Number = append(open, schemas.InquiryID(run.ID, inquiry.Inquiry)), cmp.Or(number, inquiry.Inquiry)
		}
	}
	switch {
	case numbered && found.Inquiry() == nil:
		return found, fmt.Errorf("%w: run %s has asked %d, and none is %s; `podium runs show %s` lists them", ErrNoInquiry, run.ID, len(run.Inquiries), found.ID(), run.ID)
	case len(run.Inquiries) == 0:
		return found, fmt.Errorf("%w: run %s has asked nobody anything; `podium inbox` lists the questions that are open", ErrNoInquiry, run.ID)
	case !numbered && len(open) > 1:
		return found, &NameError{fmt.Sprintf("run %s asks more than one question; name one: %s", run.ID, strings.Join(open, ", "))}
	case !numbered && len(open) == 0:
		found.Number = len(run.Inquiries) // it says why there is nothing left to be said
	}
	return found, nil
}

// A Disposition is what became of a person's word.
type Disposition struct {
	schemas.MessageReceived
	// Again is the question that the same task asks at once, since the word does not say what it needs; nil when it asks none.
	Again *schemas.InquiryOpened
	// Asks is the first question that the run asks people by the same decision and is still open, otherwise; nil when it asks none.
	Asks *schemas.InquiryOpened
	// Lacking is how many more persons have to agree.
	Lacking int
	// Settled is how the run has ended by the word; nil when it goes on.
	Settled *schemas.RunSettled
}

// Disposition follows a session from a sequence on until it says what became of the word with that id, which was about a task.
func (r Reader) Disposition(ctx context.Context, session string, from uint64, id, task string) (Disposition, error) {
	for record, err := range history.FollowSession(ctx, r.Core, session, from) {
		if err != nil {
			return Disposition{}, err
		}
		for i := range record.Transitions {
			if found, is := dispositionIn(record.Transitions[i].Facts, id, task); is {
				return found, nil
			}
		}
	}
	return Disposition{}, context.Cause(ctx)
}

// dispositionIn reads what one decision says of a word.
func dispositionIn(facts []schemas.Fact, id, task string) (found Disposition, is bool) {
	for _, fact := range facts {
		switch f := fact.(type) {
		case *schemas.MessageReceived:
			if f.ID == id {
				found.MessageReceived, is = *f, true
			}
		case *schemas.InquiryOpened:
			switch {
			case !is || f.Run != found.Run:
			case f.Task == task && f.Kind.IsInput():
				found.Again = f
			case found.Asks == nil:
				found.Asks = f
			}
		case *schemas.InquiryClosed:
			if found.Asks != nil && f.Run == found.Run && f.Inquiry == found.Asks.Inquiry {
				found.Asks = nil
			}
		case *schemas.InquiryAnswered:
			if is && f.Run == found.Run && f.Inquiry == found.Inquiry {
				found.Lacking = f.Lacking
			}
		case *schemas.RunSettled:
			if is && f.Run == found.Run {
				found.Settled = f
			}
		default:
		}
	}
	return found, is
}
