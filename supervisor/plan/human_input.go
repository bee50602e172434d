package plan

import (
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
)

// An inputTask asks the requester for what a task lacks.
type inputTask struct{ humanTask }

// applyReply starts the task, or asks for what the values of the reply do not meet.
func (i inputTask) applyReply(reply *Word) {
	answered, unfit := i.newReply(reply)
	i.end(answered)
	if len(unfit) == 0 || !i.d.inquire(i.task(), schemas.InquiryOpened{Attempt: i.asked.Attempt, After: i.asked.Inquiry, Needs: unfit}) {
		i.d.start(i.task()) // its agent receives the text
	}
}

// applyEnd fails the task for what it lacks.
func (i inputTask) applyEnd() {
	d := i.d
	d.failWith(i.task(), schemas.TaskFailed{
		Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: i.asked.Needs,
		Detail: strings.TrimSpace(d.texts().Unanswered + " " + d.lacking(i.asked.Needs)),
	})
	if !d.Run.Settled() {
		d.notifyNext()
	}
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
		d.fail(task, schemas.FailureRejected, d.texts().Rejected)
		return
	}
	if fault := d.languageFault(task, schemas.Result{Text: reply.Whole}); fault != "" {
		people := inquiry.People
		if slices.Contains(people, reply.Actor.ID) {
			people = []string{reply.Actor.ID}
		}
		if inquiry.After > 0 || !d.handBack(task, people, inquiry.Inquiry) {
			d.fail(task, schemas.FailureInvalidResult, fault)
		}
		return
	}
	d.workDone(task, reply)
}

// applyEnd fails the task.
func (w workTask) applyEnd() {
	w.d.failWith(w.task(), schemas.TaskFailed{Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Detail: w.d.texts().Unanswered})
}

// askAgain asks the others if those who have replied in another language are gone.
func (w workTask) askAgain() {
	if w.asked.After == 0 || !w.d.handBack(w.task(), w.asked.People, w.asked.After) {
		w.d.handOver(w.task())
	}
}
