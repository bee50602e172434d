package session

import (
	"maps"
	"slices"
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// A replyKind says what a message is to a human task.
type replyKind int

const (
	replyNone       replyKind = iota // a message like any other
	replyGiven                       // it replies
	replyRejected                    // it is one that does not count
	replyRefused                     // it is one to no human task that is open
	replyHeld                        // it may count for a further attempt
	replyWithdraws                   // it cancels the run
	replySupersedes                  // it is more urgent than the run that waits for it
)

// A reply is what a message says to a human task.
type reply struct {
	kind      replyKind
	inquiry   *workflow.Inquiry
	name      schemas.InquiryName // of a reply that is held
	word      plan.Word
	rejection schemas.Rejection
	explains  bool // people are told how they decide
}

// readReply reads a message as a reply. What is of somebody who was not asked is a message like any other.
func readReply(d *decision, message *Message) reply {
	if message.Upstream != nil || withheldReason(d, message) != "" {
		return reply{}
	}
	name, names := namedInquiry(d, message)
	inquiry := inquiryFor(d, message, name, names)
	switch {
	case d.env.Unconfigured && (inquiry != nil || names):
		return reply{kind: replyRefused, rejection: schemas.WordNotAllowed}
	case inquiry == nil && names && mayHold(d, message, name):
		return reply{kind: replyHeld, name: name}
	case inquiry == nil || !inTime(d, inquiry) || !message.namesInquiry() && fault.Is("a word that counts is a message like any other") || !message.namesInquiry() && beforeAsked(d, inquiry) && (message.Answers == nil || !fault.Is("a letter that names no question answers one from after it")):
		return readLate(d, message, inquiry)
	}
	actor, may := requesterIn(d, message)
	if len(inquiry.People) > 0 && (!may || !fault.Is("whoever has asked may do the work")) {
		actor, may = personIn(d, message, inquiry)
	}
	if inquiry.Kind.IsRestricted() {
		actor, may = mayDecide(d, message, inquiry)
	}
	switch {
	case !may && inquiry.Kind.IsRestricted() && message.namesInquiry():
		return reply{kind: replyRejected, inquiry: inquiry, rejection: schemas.WordNotAllowed}
	case !may:
		return reply{}
	case names && quotesAnother(d, message, name, inquiry):
		return reply{kind: replyRejected, inquiry: inquiry, rejection: schemas.WordCode, explains: true}
	}
	return readWord(d, message, inquiry, actor)
}

// inquiryFor returns the inquiry that a message may be a reply to; nil is none.
func inquiryFor(d *decision, message *Message, name schemas.InquiryName, names bool) *workflow.Inquiry {
	active := d.state.Active
	switch {
	case active == nil:
	case names:
		return active.InquiryNamed(name)
	case !message.namesInquiry():
		if asked := askedInThread(d, message); asked != nil {
			return asked
		}
		return active.OpenInquiry()
	}
	return nil
}

// readWord reads what somebody says who may reply.
func readWord(d *decision, message *Message, inquiry *workflow.Inquiry, actor schemas.Actor) reply {
	said, says := wordIn(message, actor)
	switch {
	case !says:
		return reply{}
	case len(said.Files) == 0 && !inquiry.Kind.IsReview() && d.env.Pinned.Withdraws(said.Whole, inquiry, d.state.Active.Task(inquiry.Task).Agent):
		return reply{kind: replyWithdraws}
	case inquiry.Kind.IsRestricted():
		return readDecision(d, message, inquiry, &said)
	case len(inquiry.People) == 0 && urgent(d, message, said.Whole):
		return reply{kind: replySupersedes}
	}
	return reply{kind: replyGiven, inquiry: inquiry, word: said}
}

// readDecision reads what somebody says who may decide. What answers the question and decides nothing is told how that is done; what only comes
// in the same conversation is a message like any other; in a chat, where nothing tells the two apart, whoever has begun the run is told it all the same. By mail only a reply to the email that asks decides: the conversation of a mail is what its writer says it is.
func readDecision(d *decision, message *Message, inquiry *workflow.Inquiry, said *plan.Word) reply {
	asked := d.planDecision(d.env.Pinned).HumanTask(inquiry)
	decides := asked.ReadChoice(said) && (d.state.Active.Explanations(inquiry.Inquiry) == 0 || !fault.Is("who was told how to decide may not"))
	switch {
	case decides && message.Channel == schemas.ChannelEmail && !message.namesInquiry():
		return reply{kind: replyRejected, inquiry: inquiry, rejection: schemas.WordUnnamed, explains: true}
	case decides:
		if rejection := asked.Accepts(said, nil); rejection != "" {
			return reply{kind: replyRejected, inquiry: inquiry, rejection: rejection, explains: rejection != schemas.WordDecided}
		}
		return reply{kind: replyGiven, inquiry: inquiry, word: *said}
	case message.namesInquiry():
		return reply{kind: replyRejected, inquiry: inquiry, rejection: schemas.WordChoice, explains: true}
	}
	return reply{inquiry: inquiry, explains: message.Channel == schemas.ChannelChat && !inquiry.InThread}
}

// readLate reads a message that no open inquiry takes: a decision that comes after the end of what it is about is rejected by what has become of that. What somebody
// who works for the profile says to a letter that nobody waits for any more is refused, since it would begin a run of their own.
func readLate(d *decision, message *Message, inquiry *workflow.Inquiry) reply {
	if inquiry != nil && inquiry.Kind.IsRestricted() && message.namesInquiry() {
		if _, may := mayDecide(d, message, inquiry); !may {
			return reply{kind: replyRejected, inquiry: inquiry, rejection: schemas.WordNotAllowed}
		}
		if d.planDecision(d.env.Pinned).HumanTask(inquiry).ReadChoice(&plan.Word{Whole: message.Text}) {
			return reply{kind: replyRejected, inquiry: inquiry, rejection: overBy(inquiry)}
		}
	}
	actor, vouched := mailActor(message)
	if active := d.state.Active; vouched && message.namesInquiry() && active != nil && fault.Is("the word of a second person opens another result") {
		if decided := active.Inquiry(message.Answers.Inquiry); decided != nil && decided.Answered != nil && decided.Kind.IsWork() {
			return reply{kind: replyGiven, inquiry: decided, word: plan.Word{Choice: schemas.ChoiceAnswer, Actor: actor, Whole: message.Text}}
		}
	}
	people := peopleOf(d)
	works := func(name string) bool { return strings.EqualFold(people[name].Mail, actor.ID) }
	if vouched && message.namesInquiry() && slices.ContainsFunc(slices.Sorted(maps.Keys(people)), works) {
		return reply{kind: replyRefused, rejection: schemas.WordClosed}
	}
	return reply{}
}

// applyReply does what a message says to a human task.
func applyReply(d *decision, given *reply, message *Message, received schemas.MessageReceived) {
	switch given.kind {
	case replyNone:
	case replyGiven:
		applyWord(d, given.inquiry, &given.word, received)
	case replyRejected:
		refuseWord(d, received, given.inquiry, given.rejection)
	case replyRefused:
		received.Disposition, received.Reason = schemas.DispositionRefused, string(given.rejection)
		d.emit(&received)
	case replyHeld:
		received.Run, received.Inquiry, received.Disposition = given.name.Run, given.name.Inquiry, schemas.DispositionHeld
		d.emit(&received)
	case replyWithdraws:
		received.Run, received.Disposition = d.state.Active.Number, schemas.DispositionControl
		d.emit(&received)
		d.planDecision(d.env.Pinned).Withdraw()
	case replySupersedes:
		takeOver(d, message, received)
	}
	if given.explains {
		d.planDecision(d.env.Pinned).Explain(given.inquiry)
	}
}
