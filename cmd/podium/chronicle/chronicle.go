// Package chronicle gathers what the records of a run say and its state does not keep: that has the newest of everything, such as the last round of review.
package chronicle

import (
	"slices"

	"podium/schemas"
)

// A Run is what its records say. The zero value is that of one without any; a nil one reads the same.
type Run struct {
	Rounds   []Round
	Mendings []Mending
	Controls []uint64 // the sequences of the control words that were taken, but for those that answer inquiries
	Retries  int      // the run of the session that it was begun in the place of; 0 is none

	filled map[string]*schemas.ArgumentsFilled // by task: the newest
	asked  map[int]*schemas.ArgumentsFilled    // by inquiry: those of its task when it was opened
}

// A Round is one in which what a run has made was looked at.
type Round struct {
	Number  int
	Forced  bool                  // all steps are taken: whatever is found, nothing more is done
	Outcome schemas.Outcome       // empty while it is under way
	Issues  []schemas.ReviewIssue // what it has found
	Wanting []string              // the questions to checks that want more to be done
	Change  *schemas.PlanChanged  // by which the run has gone back to work; nil is that it has not
}

// A Mending is a failure of which others were asked to mend what it is about.
type Mending struct {
	Failed *schemas.TaskFailed
	By     []string // the tasks that mend it
}

// Apply takes what a record says of the run with that number. Records come in their order.
func (r *Run) Apply(record *schemas.Record, number int) {
	for fact := range record.AllFacts() {
		if schemas.RunOf(fact) == number {
			r.fact(fact)
		}
	}
}

func (r *Run) fact(fact schemas.Fact) {
	switch f := fact.(type) {
	case *schemas.ReviewBegan:
		r.Rounds = append(r.Rounds, Round{Number: f.Round, Forced: f.Forced})
	case *schemas.Judged:
		if round := r.newest(); round != nil && f.Occasion == schemas.OccasionReview {
			round.judged(f)
		}
	case *schemas.PlanChanged:
		r.changed(f)
	case *schemas.TaskFailed:
		if f.Action == schemas.RecoveryRequestFix {
			r.Mendings = append(r.Mendings, Mending{Failed: f})
		}
	case *schemas.RunStarted:
		r.Retries = f.Retries
	case *schemas.MessageReceived:
		if f.Disposition == schemas.DispositionControl {
			r.Controls = append(r.Controls, f.Sequence)
		}
	case *schemas.ArgumentsFilled:
		if r.filled == nil {
			r.filled = map[string]*schemas.ArgumentsFilled{}
		}
		r.filled[f.Task] = f
	case *schemas.InquiryOpened:
		if r.asked == nil {
			r.asked = map[int]*schemas.ArgumentsFilled{}
		}
		r.asked[f.Inquiry] = r.filled[f.Task]
	default: // the state of the run keeps it
	}
}

func (r *Run) newest() *Round {
	if len(r.Rounds) == 0 {
		return nil
	}
	return &r.Rounds[len(r.Rounds)-1]
}

func (r *Round) judged(f *schemas.Judged) {
	if f.Question != "" {
		r.Wanting = append(r.Wanting, f.Question)
		return
	}
	r.Outcome, r.Issues = f.Outcome, f.Issues
}

// changed notes what is done about a failure, or else about what a round has found: the first change behind its outcome.
func (r *Run) changed(f *schemas.PlanChanged) {
	if f.Source != schemas.OccasionFix {
		if round := r.newest(); round != nil && round.Outcome == schemas.OutcomeFailed && round.Change == nil {
			round.Change = f
		}
		return
	}
	for i := range f.Tasks {
		r.mends(f.Tasks[i].Task, f.Tasks[i].Options().Recovers)
	}
}

func (r *Run) mends(by, failed string) {
	for at := range slices.Backward(r.Mendings) {
		if mending := &r.Mendings[at]; mending.Failed.Task == failed {
			mending.By = append(mending.By, by)
			return
		}
	}
}

// Round returns the round of that number, or nil.
func (r *Run) Round(number int) *Round {
	if r == nil {
		return nil
	}
	for i := range r.Rounds {
		if r.Rounds[i].Number == number {
			return &r.Rounds[i]
		}
	}
	return nil
}

// MendingsOf are those of the failures of a task, the first of them first.
func (r *Run) MendingsOf(task string) (found []Mending) {
	if r == nil {
		return nil
	}
	for _, mending := range r.Mendings {
		if mending.Failed.Task == task {
			found = append(found, mending)
		}
	}
	return found
}

// Wants reports whether a check, by the question that it was asked, wants more to be done. A nil round has asked none.
func (r *Round) Wants(question string) bool { return r != nil && slices.Contains(r.Wanting, question) }

// AskedAbout is how the arguments of a task were filled when an inquiry asked about it; nil is that they were not.
func (r *Run) AskedAbout(inquiry int) *schemas.ArgumentsFilled {
	if r == nil {
		return nil
	}
	return r.asked[inquiry]
}
