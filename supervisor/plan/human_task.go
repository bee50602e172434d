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

	// applyReply does what an accepted reply decides.
	applyReply(reply *Word)
	// applyHeld does what a reply decides that was given before the run has adopted the human task. It edits nothing.
	applyHeld(reply *Word)
	// applyEnd does what follows once the human task has ended without a decision.
	applyEnd()
	// askAgain asks those people who can be reached now, after the human task was withdrawn.
	askAgain()
}

// HumanTask returns a human task of the run with the rules of its kind.
func (d *Decision) HumanTask(asked *workflow.Inquiry) HumanTask {
	base := humanTask{d, asked}
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
	d.HumanTask(asked).applyReply(reply)
}

// Unanswered ends a human task without a reply.
func (d *Decision) Unanswered(asked *workflow.Inquiry, reason schemas.InquiryReason) {
	closeInquiry(d, asked, reason)
	d.HumanTask(asked).applyEnd()
}

// AskAnew withdraws a human task and asks those people who can be reached now.
func (d *Decision) AskAnew(asked *workflow.Inquiry) {
	closeInquiry(d, asked, schemas.InquiryWithdrawn)
	d.HumanTask(asked).askAgain()
}

// A humanTask is what all kinds of human task share.
type humanTask struct {
	d     *Decision
	asked *workflow.Inquiry
}

func (h humanTask) task() *workflow.Task { return h.d.Run.Task(h.asked.Task) }

// ReadChoice reads the word that approves or rejects. For input and work it is not asked: any text is a reply to them.
func (h humanTask) ReadChoice(reply *Word) bool {
	choice, decides := h.d.Profile.Decides(reply.Whole)
	if decides {
		reply.Choice = choice
	}
	return decides
}

func (humanTask) applyHeld(*Word) {} // only work and approvals are adopted

// Accepts accepts every reply.
func (humanTask) Accepts(*Word, jsontext.Value) schemas.Rejection { return "" }

// newReply returns the event of a reply, and the needs that its values do not meet.
func (h humanTask) newReply(reply *Word) (answered *schemas.InquiryAnswered, unfit []schemas.Need) {
	values, unfit := valuesInReply(h.d, h.asked, reply)
	return &schemas.InquiryAnswered{
		Run: h.d.Run.Number, Inquiry: h.asked.Inquiry, Choice: reply.Choice, Actor: reply.Actor, Sequence: reply.Sequence, Text: reply.Text,
		Files: len(reply.Files), Values: values, Arguments: reply.Arguments,
	}, unfit
}

// end emits the reply that ends the human task, and cancels its notifications that were not sent.
func (h humanTask) end(answered *schemas.InquiryAnswered) {
	h.d.emit(answered)
	withdrawNotices(h.d, h.asked.Inquiry)
}

// An unknownTask accepts no reply.
type unknownTask struct{ humanTask }

// Accepts rejects every reply.
func (unknownTask) Accepts(*Word, jsontext.Value) schemas.Rejection { return schemas.WordNotAsked }

func (unknownTask) applyReply(*Word) {}

func (unknownTask) applyEnd() {}

func (unknownTask) askAgain() {}
