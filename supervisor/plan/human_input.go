package plan

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
)

// An inputTask asks the requester for what a task lacks.
type inputTask struct{ humanTask }

// applyReply makes the task due, whose agent receives the text, or asks for what the values of the reply do not meet.
func (i inputTask) applyReply(reply *Word) {
	answered, unfit := i.newReply(reply)
	i.end(answered)
	if len(unfit) == 0 {
		return
	}
	if opened := inputFor(i.d, i.task(), schemas.InquiryOpened{Attempt: i.asked.Attempt, After: i.asked.Inquiry, Needs: unfit}); opened != nil {
		open(i.d, i.task(), opened)
	}
}

// applyEnd fails the task for what it lacks.
func (i inputTask) applyEnd() {
	d := i.d
	failWith(d, i.task(), schemas.TaskFailed{
		Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: i.asked.Needs,
		Detail: strings.TrimSpace(d.texts().Unanswered + " " + lacking(d, i.asked.Needs)),
	})
}

func (inputTask) askAgain() {} // the requester is asked, who is always the same

// A workTask asks people to do a task.
type workTask struct{ humanTask }

// applyReply takes the reply as the result of the task. A person who has replied in another language than the requester's is asked once more.
func (w workTask) applyReply(reply *Word) {
	answered, _ := w.newReply(reply)
	w.end(answered)
	d, inquiry, task := w.d, w.asked, w.task()
	if reply.Choice == schemas.ChoiceReject && !fault.Is("who declines has done it") {
		fail(d, task, schemas.FailureRejected, d.texts().Rejected)
		return
	}
	fault := languageFault(d, task, schemas.Result{Text: reply.Whole})
	if fault == "" {
		workDone(d, task, reply)
		return
	}
	people := inquiry.People
	if slices.Contains(people, reply.Actor.ID) {
		people = []string{reply.Actor.ID}
	}
	if opened := workAgain(d, task, people, inquiry.Inquiry); opened != nil && inquiry.After == 0 {
		open(d, task, opened)
		return
	}
	fail(d, task, schemas.FailureInvalidResult, fault)
}

func (w workTask) applyHeld(reply *Word) { w.applyReply(reply) }

// applyEnd fails the task.
func (w workTask) applyEnd() {
	failWith(w.d, w.task(), schemas.TaskFailed{Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Detail: w.d.texts().Unanswered})
}

// askAgain asks the others if those who have replied in another language are gone.
func (w workTask) askAgain() {
	if opened := workAgain(w.d, w.task(), w.asked.People, w.asked.After); opened != nil && w.asked.After > 0 {
		open(w.d, w.task(), opened)
		return
	}
	handOver(w.d, w.task())
}
