package plan

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
)

// An inputTask asks the requester for what a task lacks.
type inputTask struct{ humanTask }

// applyReply makes the task due, whose agent receives the text, or asks for what the values of the reply do not meet.
func (i inputTask) applyReply(reply *Word) events {
	answered, unfit := i.newReply(reply)
	done := i.end(answered)
	if len(unfit) == 0 {
		return done
	}
	if opened := inputFor(i.v, i.task(), schemas.InquiryOpened{Attempt: i.asked.Attempt, After: i.asked.Inquiry, Needs: unfit}); opened != nil {
		done = append(done, open(i.v, i.task(), opened)...)
	}
	return done
}

// applyEnd fails the task for what it lacks.
func (i inputTask) applyEnd() events {
	return failWith(i.v, i.task(), schemas.TaskFailed{
		Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Needs: i.asked.Needs,
		Reasons: []schemas.Reason{schemas.Because(schemas.Unanswered), lacking(i.asked.Needs)},
	})
}

func (inputTask) askAgain() events { return nil } // the requester is asked, who is always the same

// A workTask asks people to do a task.
type workTask struct{ humanTask }

// applyReply takes the reply as the result of the task. A person who has replied in another language than the requester's is asked once more.
func (w workTask) applyReply(reply *Word) events {
	answered, _ := w.newReply(reply)
	done, task := w.end(answered), w.task()
	if reply.Choice == schemas.ChoiceReject && !fault.Is("who declines has done it") {
		return append(done, fail(w.v, task, schemas.FailureRejected, schemas.Because(schemas.WorkDeclined))...)
	}
	wrong := languageFault(w.v, task, schemas.Result{Text: reply.Whole})
	if len(wrong) == 0 {
		return append(done, workDone(w.v, task, reply))
	}
	people := w.asked.People
	if slices.Contains(people, reply.Actor.ID) {
		people = []string{reply.Actor.ID}
	}
	if opened := workAgain(w.v, task, people, w.asked.Inquiry); opened != nil && w.asked.After == 0 {
		return append(done, open(w.v, task, opened)...)
	}
	return append(done, fail(w.v, task, schemas.FailureInvalidResult, wrong...)...)
}

func (w workTask) applyHeld(reply *Word) events { return w.applyReply(reply) }

// applyEnd fails the task.
func (w workTask) applyEnd() events {
	return failWith(w.v, w.task(), schemas.TaskFailed{Cause: schemas.FailureBlocked, Category: schemas.CategoryInput, Reasons: []schemas.Reason{schemas.Because(schemas.Unanswered)}})
}

// askAgain asks the others if those who have replied in another language are gone.
func (w workTask) askAgain() events {
	if opened := workAgain(w.v, w.task(), w.asked.People, w.asked.After); opened != nil && w.asked.After > 0 {
		return open(w.v, w.task(), opened)
	}
	return handOver(w.v, w.task())
}
