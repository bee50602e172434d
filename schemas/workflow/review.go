package workflow

import (
	"errors"
	"fmt"
	"slices"

	"podium/schemas"
)

// A Review is how far the newest review of a run is.
type Review struct {
	Round  int  `json:"round"`
	Forced bool `json:"forced,omitzero"`
	// Outcome is empty while the round is under way.
	Outcome schemas.Outcome       `json:"outcome,omitzero"`
	Issues  []schemas.ReviewIssue `json:"issues,omitzero"`
}

// A Merged is a file that stands instead of several versions.
type Merged struct {
	schemas.MergedFile
	Question string `json:"question"` // that it was merged by
	Planned  int    `json:"planned"`  // how many tasks the run had by then
}

// Asked returns the questions of a kind of occasion that were put in the present round of review.
func (r *Run) Asked(occasion schemas.Occasion) []*Task {
	var asked []*Task
	for _, question := range r.DecisionTasks {
		if question.Occasion() == occasion && r.Review != nil && int(question.Round) == r.Review.Round {
			asked = append(asked, question)
		}
	}
	return asked
}

// applyJudged notes what has come of a review, and which files it has merged.
func applyJudged(r *Run, f *schemas.Judged) {
	for _, file := range f.Merged {
		r.Merged = append(slices.Clip(r.Merged), Merged{MergedFile: file, Question: f.Question, Planned: len(r.Tasks)})
	}
	if f.Occasion == schemas.OccasionReview && f.Question == "" && r.Review != nil {
		review := *r.Review
		review.Outcome, review.Issues = f.Outcome, f.Issues
		r.Review = &review
	}
}

// checkReview lets a review begin when all work is over, round by round, and one that has failed be looked at again when somebody says so.
func checkReview(r *Run, f *schemas.ReviewBegan) error {
	before := 0
	if r.Review != nil {
		before = r.Review.Round
	}
	if r.Phase != PhaseExecuting && !reviewsAgain(r) || f.Round != before+1 {
		return fmt.Errorf("review %d follows review %d in phase %s", f.Round, before, r.Phase)
	}
	for _, task := range r.Tasks {
		if !task.State.Ended() {
			return fmt.Errorf("task %q is %s", task.ID, task.State)
		}
	}
	return nil
}

// reviewsAgain reports whether somebody who was asked about the review that has failed wants it tried once more.
func reviewsAgain(r *Run) bool {
	if r.Phase != PhaseReviewing || r.Review.Outcome != schemas.OutcomeFailed {
		return false
	}
	again := func(inquiry *Inquiry) bool {
		return inquiry.Task == schemas.ReviewInput(r.Review.Round) && inquiry.Answered != nil && inquiry.Answered.Choice == schemas.ChoiceRetry
	}
	return slices.ContainsFunc(r.Inquiries, again)
}

// checkReviewed lets each round have one outcome, when nobody is asked any more.
func checkReviewed(r *Run, f *schemas.Judged) error {
	switch {
	case r.Phase != PhaseReviewing || r.Review == nil || f.Round != r.Review.Round || f.Occasion != schemas.OccasionReview:
		return fmt.Errorf("%s %d comes to no end in phase %s", f.Occasion, f.Round, r.Phase)
	case r.Review.Outcome != "":
		return fmt.Errorf("round %d is %s already", f.Round, r.Review.Outcome)
	case f.Outcome != schemas.OutcomePassed && f.Outcome != schemas.OutcomeFailed:
		return fmt.Errorf("%q is no outcome of a review", f.Outcome)
	case r.Judge() != nil:
		return errors.New("it is still looked at")
	}
	return nil
}
