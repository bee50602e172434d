package plan

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/recovery"
)

// A failureTask asks people how the run goes on after a task has failed.
type failureTask struct{ humanTask }

// ReadChoice reads the first words of a reply. What follows them is the text of the reply.
func (f failureTask) ReadChoice(reply *Word) bool {
	choice, rest, chosen := recovery.Read(f.v.Profile.Languages, reply.Whole)
	if !chosen || f.v.Profile.Asks(strings.TrimSuffix(strings.TrimSpace(reply.Whole), rest)) {
		return false
	}
	reply.Choice, reply.Offset, reply.Whole = choice, strings.LastIndex(reply.Whole, rest), rest
	return true
}

// Accepts rejects a choice that is not offered, and a plan that cannot be carried out.
func (f failureTask) Accepts(reply *Word, _ jsontext.Value) schemas.Rejection {
	return f.rejection(reply, func() bool {
		_, can := instead(f.v, decidedWith(f.v, f.asked), reply.Whole)
		return can
	})
}

func (f failureTask) rejection(reply *Word, canReplan func() bool) schemas.Rejection {
	switch {
	case !f.asked.Takes(reply.Choice):
		return schemas.WordChoice
	case reply.Choice == schemas.ChoiceReplan && !canReplan() && !fault.Is("a plan from upstream that cannot be carried out ends the wait"):
		return schemas.WordPlan
	}
	return ""
}

// applyReply does what people have decided about the failure.
func (f failureTask) applyReply(reply *Word) events {
	answered, _ := f.newReply(reply)
	done := f.end(answered)
	f.v = f.v.after(done)
	task := f.task()
	switch reply.Choice {
	case schemas.ChoiceRetry: // the task is due
	case schemas.ChoiceAnswer:
		done = append(done, workDone(f.v, task, reply))
	case schemas.ChoiceSkip:
		done = append(done, &schemas.TaskSkipped{Run: f.v.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone})
	case schemas.ChoiceReplan:
		done = append(done, f.replan(reply)...)
	case schemas.ChoiceEnd, schemas.ChoiceApprove, schemas.ChoiceReject, schemas.ChoiceRaise:
		failed := failUnrecovered(f.v, task)
		done = append(done, failed...)
		if !fault.Is("whoever says end is not heard") {
			done = append(done, abort(f.v.after(failed))...)
		}
	}
	return done
}

// replan replaces the failed tasks by what the reply plans. The caller of a run plans for all failures that it is asked about.
func (f failureTask) replan(reply *Word) events {
	failed := decidedWith(f.v, f.asked)
	change, can := instead(f.v, failed, reply.Whole)
	var done events
	for _, id := range failed {
		if other := f.v.Run.AsksAbout(id); other != nil {
			done = append(done, closeInquiry(f.v, other, schemas.InquiryWithdrawn)...)
		}
		done = append(done, failUnrecovered(f.v, f.v.Run.Task(id))...)
	}
	if !can {
		return done
	}
	change.replaces = fault.Either("what is done instead comes on top", nil, failed)
	return append(done, adoptChange(f.v.after(done), schemas.OccasionPerson, change)...)
}

// applyEnd fails the task.
func (f failureTask) applyEnd() events { return failUnrecovered(f.v, f.task()) }

// askAgain asks the people who can be reached, or fails the task.
func (f failureTask) askAgain() events {
	v, task := f.v, f.task()
	opened := copyForPeople(&f.asked.InquiryOpened, f.asked.People)
	if reached := reached(v, f.asked.People); len(reached.To) > 0 && len(v.Run.Inquiries) < schemas.MaxInquiries {
		opened.To, opened.Account, opened.InThread = reached.To, reached.Account, reached.InThread
		return open(v, task, &opened)
	}
	return failUnrecovered(v, task)
}

// A reviewTask asks people how the run goes on after its review has failed.
type reviewTask struct{ failureTask }

// Accepts rejects a choice that is not offered, and a plan that cannot be carried out.
func (r reviewTask) Accepts(reply *Word, _ jsontext.Value) schemas.Rejection {
	return r.rejection(reply, func() bool {
		_, can := afterReviewInstead(r.v, reply.Whole)
		return can
	})
}

// applyReply does what people have decided about the review.
func (r reviewTask) applyReply(reply *Word) events {
	answered, _ := r.newReply(reply)
	done := r.end(answered)
	v := r.v.after(done)
	switch reply.Choice {
	case schemas.ChoiceRetry:
		fixes := fixIssues(v)
		if len(fixes) == 0 {
			fixes = events{beginReview(v, false)} // there is nobody to mend anything
		}
		return append(done, fixes...)
	case schemas.ChoiceSkip: // the results are taken as they are
	case schemas.ChoiceAnswer:
		words := []schemas.AnswerPart{{Task: schemas.NoticeTask(r.asked.Inquiry, 1), Body: reply.Text}}
		done = append(append(done, closeBudgetTask(v)...), concludeWith(v, schemas.RunCompleted, schemas.StopCompleted, nil, words))
	case schemas.ChoiceReplan:
		if change, can := afterReviewInstead(v, reply.Whole); can {
			return append(done, adoptChange(v, schemas.OccasionPerson, change)...)
		}
		return append(done, failReview(v)...)
	case schemas.ChoiceEnd, schemas.ChoiceApprove, schemas.ChoiceReject, schemas.ChoiceRaise:
		return append(done, failReview(v)...)
	}
	return done
}

func (reviewTask) applyEnd() events { return nil } // the review has failed: people are asked once about a round

func (reviewTask) askAgain() events { return nil } // the rule ask_people_about_review asks
