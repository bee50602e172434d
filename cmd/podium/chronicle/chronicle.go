// Package chronicle gathers what the records of a run say and its state does not keep: that has the newest of everything, such as the last round of review.
package chronicle

import (
	"slices"
	"time"

	"podium/schemas"
	"podium/supervisor/say"
)

// A Run is what its records say. The zero value is that of one without any; a nil one reads the same.
type Run struct {
	Rounds   []Round
	Mendings []Mending
	Controls []uint64 // the sequences of the control words that were taken, but for those that answer inquiries
	Attempts []Attempt
	Retries  int // the run of the session that it was begun in the place of; 0 is none

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

// An Attempt is one request to an agent, with its times and what came of it.
type Attempt struct {
	Task    string              `json:"task"`
	Attempt int                 `json:"attempt"`
	Agent   string              `json:"agent,omitzero"`    // empty when a circuit breaker has refused it
	Asked   time.Time           `json:"asked"`             // when the request was made
	Begun   time.Time           `json:"begun,omitzero"`    // when the agent said that it works on it
	Ended   time.Time           `json:"ended,omitzero"`    // zero while it is under way
	Outcome AttemptOutcome      `json:"outcome"`           // under_way until it has ended
	Cause   schemas.FailureKind `json:"cause,omitzero"`    // of one that has failed
	Detail  string              `json:"detail,omitzero"`   // what the agent or a server says of that
	RetryAt time.Time           `json:"retry_at,omitzero"` // when the next attempt begins
}

// AttemptOutcome is what has become of an attempt.
type AttemptOutcome string

// The outcomes of attempts.
const (
	AttemptUnderWay  AttemptOutcome = "under_way"
	AttemptCompleted AttemptOutcome = "completed"
	AttemptFailed    AttemptOutcome = "failed"
	AttemptCancelled AttemptOutcome = "cancelled"
	AttemptAsks      AttemptOutcome = "asks" // a person is asked what it lacks, or to approve what it proposes
)

// AttemptsOf returns the attempts of a task, in their order.
func (r *Run) AttemptsOf(task string) (attempts []Attempt) {
	if r == nil {
		return nil
	}
	for i := range r.Attempts {
		if r.Attempts[i].Task == task {
			attempts = append(attempts, r.Attempts[i])
		}
	}
	return attempts
}

// Apply takes what a record says of the run with that number. Records come in their order.
func (r *Run) Apply(record *schemas.Record, number int) {
	for i := range record.Transitions {
		for _, fact := range record.Transitions[i].Facts {
			if schemas.RunOf(fact) == number {
				r.fact(fact)
				r.attempt(fact, record.Transitions[i].Cause.Time)
			}
		}
	}
}

// attempt notes what a fact says of an attempt. A refusal by a circuit breaker is one that has ended at once, without an agent.
func (r *Run) attempt(fact schemas.Fact, now time.Time) {
	switch f := fact.(type) {
	case *schemas.TaskDispatched:
		r.Attempts = append(r.Attempts, Attempt{Task: f.Task, Attempt: f.Attempt, Agent: f.Agent, Asked: now, Outcome: AttemptUnderWay})
	case *schemas.TaskStarted:
		if of := r.underWay(f.Task); of != nil && of.Begun.IsZero() {
			of.Begun = now
		}
	case *schemas.TaskCompleted:
		if of := r.underWay(f.Task); of != nil {
			of.Outcome, of.Ended = AttemptCompleted, now
		}
	case *schemas.TaskCancelled:
		if of := r.underWay(f.Task); of != nil {
			of.Outcome, of.Ended = AttemptCancelled, now
		}
	case *schemas.InquiryOpened:
		if of := r.underWay(f.Task); of != nil && f.Attempt > 0 {
			of.Outcome, of.Ended = AttemptAsks, now
		}
	case *schemas.TaskFailed:
		of := r.underWay(f.Task)
		if of == nil && f.Cause != schemas.FailureUnavailable {
			return // no attempt has failed
		}
		if of == nil {
			r.Attempts = append(r.Attempts, Attempt{Task: f.Task, Attempt: f.Attempt, Asked: now})
			of = &r.Attempts[len(r.Attempts)-1]
		}
		of.Outcome, of.Ended, of.Cause, of.Detail, of.RetryAt = AttemptFailed, now, f.Cause, say.Failure(say.English(), f), f.RetryAt
	default:
	}
}

// underWay returns the attempt of a task that has not ended, or nil.
func (r *Run) underWay(task string) *Attempt {
	for i := range slices.Backward(r.Attempts) {
		if r.Attempts[i].Task == task {
			if r.Attempts[i].Outcome != AttemptUnderWay {
				return nil
			}
			return &r.Attempts[i]
		}
	}
	return nil
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
