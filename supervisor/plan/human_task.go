package plan

import (
	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A Word is what a person says to an inquiry.
type Word struct {
	Choice   schemas.InquiryChoice
	Actor    schemas.Actor
	Sequence uint64 // of the input that holds it
	Text     schemas.Content
	Whole    string               // all of the text
	Offset   int                  // where Whole begins in the text of the input
	Files    []schemas.Attachment // that came along
	// Arguments are all that whoever agrees has made of those that are asked about; empty while they have changed nothing.
	Arguments jsontext.Value
	Amount    *schemas.Usage // by which a budget is raised; nil is what was offered
}

// A HumanTask decides about one open human task of the run by the rules of its kind.
type HumanTask interface {
	// ReadChoice reads a choice from the text of a reply, and sets it there. It reports false, and changes nothing, if the text decides nothing.
	ReadChoice(reply *Word) bool
	// Accepts returns why a reply that has made its choice is rejected. An edit of arguments, apart from the text, becomes part of an accepted reply.
	Accepts(reply *Word, edit jsontext.Value) schemas.Rejection

	// applyReply returns an accepted reply, and what it decides.
	applyReply(reply *Word) events
	// applyHeld is applyReply for a reply that was given before the run has adopted the human task. It edits nothing.
	applyHeld(reply *Word) events
	// applyEnd returns what follows once the human task has ended without a decision.
	applyEnd() events
	// askAgain asks those people who can be reached now, after the human task was withdrawn.
	askAgain() events
}

// HumanTask returns a human task of the run with the rules of its kind.
func (v *View) HumanTask(asked *workflow.Inquiry) HumanTask {
	base := humanTask{v, asked}
	switch asked.Kind {
	case schemas.HumanTaskInput:
		return inputTask{base}
	case schemas.HumanTaskWork:
		return workTask{base}
	case schemas.HumanTaskApproval:
		return approvalTask{base}
	case schemas.HumanTaskAnswerApproval:
		return answerApproval{approvalTask{base}}
	case schemas.HumanTaskFailure:
		return failureTask{base}
	case schemas.HumanTaskBudget:
		return budgetTask{base}
	case schemas.HumanTaskReview:
		return reviewTask{failureTask{base}}
	}
	return unknownTask{base} // of a record that no build of this format has made
}

// Answer applies an accepted reply to an open human task.
func (d *Decision) Answer(asked *workflow.Inquiry, reply *Word) {
	d.apply(d.HumanTask(asked).applyReply(reply))
}

// Unanswered ends a human task without a reply.
func (d *Decision) Unanswered(asked *workflow.Inquiry, reason schemas.InquiryReason) {
	d.apply(endWithoutReply(&d.View, asked, reason))
}

// endWithoutReply closes a human task, and does what follows.
func endWithoutReply(v *View, asked *workflow.Inquiry, reason schemas.InquiryReason) events {
	closed := closeInquiry(v, asked, reason)
	return append(closed, v.after(closed).HumanTask(asked).applyEnd()...)
}

// AskAnew withdraws a human task and asks those people who can be reached now.
func (d *Decision) AskAnew(asked *workflow.Inquiry) { d.apply(askAnew(&d.View, asked)) }

func askAnew(v *View, asked *workflow.Inquiry) events {
	closed := closeInquiry(v, asked, schemas.InquiryWithdrawn)
	return append(closed, v.after(closed).HumanTask(asked).askAgain()...)
}

// A humanTask is what all kinds of human task share.
type humanTask struct {
	v     *View
	asked *workflow.Inquiry
}

func (h humanTask) task() *workflow.Task { return h.v.Run.Task(h.asked.Task) }

// ReadChoice reads the word that approves or rejects. For input and work it is not asked: any text is a reply to them.
func (h humanTask) ReadChoice(reply *Word) bool {
	choice, decides := h.v.Profile.Decides(reply.Whole)
	if decides {
		reply.Choice = choice
	}
	return decides
}

func (humanTask) applyHeld(*Word) events { return nil } // only work and approvals are adopted

// Accepts accepts every reply.
func (humanTask) Accepts(*Word, jsontext.Value) schemas.Rejection { return "" }

// newReply returns the event of a reply, and the needs that its values do not meet.
func (h humanTask) newReply(reply *Word) (answered *schemas.InquiryAnswered, unfit []schemas.Need) {
	values, unfit := valuesInReply(h.v, h.asked, reply)
	return &schemas.InquiryAnswered{
		Run: h.v.Run.Number, Inquiry: h.asked.Inquiry, Choice: reply.Choice, Actor: reply.Actor, Sequence: reply.Sequence, Text: reply.Text,
		Files: len(reply.Files), Values: values, Arguments: reply.Arguments,
	}, unfit
}

// end returns the reply that ends the human task, and cancels the notifications of it that were not sent.
func (h humanTask) end(answered *schemas.InquiryAnswered) events {
	return append(events{answered}, withdrawNotices(h.v, h.asked, true)...)
}

// An unknownTask accepts no reply.
type unknownTask struct{ humanTask }

// Accepts rejects every reply.
func (unknownTask) Accepts(*Word, jsontext.Value) schemas.Rejection { return schemas.WordNotAsked }

func (unknownTask) applyReply(*Word) events { return nil }

func (unknownTask) applyEnd() events { return nil }

func (unknownTask) askAgain() events { return nil }
