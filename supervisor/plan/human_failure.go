package plan

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/recovery"
)

// A failureTask asks people how the run goes on after a task has failed.
type failureTask struct{ humanTask }

// ReadChoice reads the first words of a reply. What follows them is the text of the reply.
func (f failureTask) ReadChoice(reply *Word) bool {
	choice, rest, chosen := recovery.Read(f.d.Profile.Languages, reply.Whole)
	if !chosen || f.d.Profile.Asks(strings.TrimSuffix(strings.TrimSpace(reply.Whole), rest)) {
		return false
	}
	reply.Choice, reply.Offset, reply.Whole = choice, strings.LastIndex(reply.Whole, rest), rest
	return true
}

// Accepts rejects a choice that is not offered, and a plan that cannot be carried out.
func (f failureTask) Accepts(reply *Word, _ jsontext.Value) schemas.Rejection {
	return f.rejection(reply, func() bool {
		_, can := instead(f.d, decidedWith(f.d, f.asked), reply.Whole)
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
func (f failureTask) applyReply(reply *Word) {
	answered, _ := f.newReply(reply)
	f.end(answered)
	d, task := f.d, f.task()
	switch reply.Choice {
	case schemas.ChoiceRetry: // the task is due
	case schemas.ChoiceAnswer:
		workDone(d, task, reply)
	case schemas.ChoiceSkip:
		d.emit(&schemas.TaskSkipped{Run: d.Run.Number, Task: task.ID, Reason: schemas.SkippedForgone})
	case schemas.ChoiceReplan:
		f.replan(reply)
	case schemas.ChoiceEnd, schemas.ChoiceApprove, schemas.ChoiceReject, schemas.ChoiceRaise:
		forsake(d, task)
		if !fault.Is("whoever says end is not heard") {
			abort(d)
		}
	}
}

// replan replaces the failed tasks by what the reply plans. The caller of a run plans for all failures that it is asked about.
func (f failureTask) replan(reply *Word) {
	d := f.d
	failed := decidedWith(d, f.asked)
	change, can := instead(d, failed, reply.Whole)
	for _, id := range failed {
		if other := d.Run.AsksAbout(id); other != nil {
			closeInquiry(d, other, schemas.InquiryWithdrawn)
		}
		forsake(d, d.Run.Task(id))
	}
	if can {
		change.replaces = fault.Either("what is done instead comes on top", nil, failed)
		adoptChange(d, schemas.OccasionPerson, change)
	}
}

// applyEnd fails the task.
func (f failureTask) applyEnd() { forsake(f.d, f.task()) }

// askAgain asks the people who can be reached, or fails the task.
func (f failureTask) askAgain() {
	d, task := f.d, f.task()
	opened := besides(&f.asked.InquiryOpened, f.asked.People)
	if reached := reached(d, f.asked.People); len(reached.To) > 0 && len(d.Run.Inquiries) < schemas.MaxInquiries {
		opened.To, opened.Account, opened.InThread = reached.To, reached.Account, reached.InThread
		open(d, task, &opened)
		return
	}
	forsake(d, task)
}

// A reviewTask asks people how the run goes on after its review has failed.
type reviewTask struct{ failureTask }

// Accepts rejects a choice that is not offered, and a plan that cannot be carried out.
func (r reviewTask) Accepts(reply *Word, _ jsontext.Value) schemas.Rejection {
	return r.rejection(reply, func() bool {
		_, can := afterReviewInstead(r.d, reply.Whole)
		return can
	})
}

// applyReply does what people have decided about the review.
func (r reviewTask) applyReply(reply *Word) {
	answered, _ := r.newReply(reply)
	r.end(answered)
	d := r.d
	switch reply.Choice {
	case schemas.ChoiceRetry:
		if fixIssues(d); d.Run.Phase == workflow.PhaseReviewing {
			beginReview(d, false) // there is nobody to mend anything
		}
	case schemas.ChoiceSkip: // the results are taken as they are
	case schemas.ChoiceAnswer:
		concludeWith(d, schemas.RunCompleted, schemas.StopCompleted, nil, []schemas.AnswerPart{{Task: schemas.NoticeTask(r.asked.Inquiry, 1), Body: reply.Text}})
	case schemas.ChoiceReplan:
		if change, can := afterReviewInstead(d, reply.Whole); can {
			adoptChange(d, schemas.OccasionPerson, change)
			return
		}
		failReview(d)
	case schemas.ChoiceEnd, schemas.ChoiceApprove, schemas.ChoiceReject, schemas.ChoiceRaise:
		failReview(d)
	}
}

func (r reviewTask) applyEnd() { failReview(r.d) }

func (reviewTask) askAgain() {} // a review that has failed asks
