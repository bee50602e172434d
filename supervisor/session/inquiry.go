package session

import (
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// answered takes a message as a word on an inquiry, if it is one, and reports whether it was. One to
// whom nothing is open, or of somebody who was not asked, is a message like any other.
func (d *decision) answered(message *Message, received schemas.MessageReceived) bool {
	active := d.state.Active
	if message.Upstream != nil || d.withheldReason(message) != "" {
		return false
	}
	if active == nil {
		return d.lateWork(message, received)
	}
	inquiry := active.OpenInquiry()
	if named := message.Answers; message.namesInquiry() {
		if inquiry = nil; named.Run == schemas.RunID(d.state.Session, active.Number) {
			inquiry = active.Inquiry(named.Inquiry)
		}
	}
	if inquiry == nil || !d.inTime(inquiry) || !message.namesInquiry() && d.beforeAsked(inquiry) {
		return d.lateWork(message, received)
	}
	actor, may := requesterIn(message, &active.Message)
	if len(inquiry.People) > 0 {
		actor, may = d.personIn(message, inquiry)
	}
	if !may {
		return false
	}
	said := plan.Word{Choice: schemas.ChoiceAnswer, Actor: actor, Whole: message.Text, Files: message.Files}
	if message.Wordless { // a subject answers nothing
		said.Whole = ""
	}
	if said.Whole == "" && len(said.Files) == 0 {
		return false
	}
	if len(said.Files) == 0 && d.env.Pinned.Withdraws(said.Whole, inquiry, active.Task(inquiry.Task).Agent) {
		received.Run, received.Disposition = active.Number, schemas.DispositionControl
		d.emit(&received)
		d.planDecision(d.env.Pinned).Cancel()
		return true
	}
	d.word(inquiry, &said, received)
	return true
}

// namesInquiry reports whether a message answers a letter that asks. One that answers another letter of ours says no more of
// what it is about than one that answers none.
func (m *Message) namesInquiry() bool { return m.Answers != nil && m.Answers.Inquiry > 0 }

// lateWork refuses what somebody who works for the profile says to a letter that nobody waits for any more: else it would begin
// a run of their own. It reports whether the message was such a one.
func (d *decision) lateWork(message *Message, received schemas.MessageReceived) bool {
	actor, vouched := mailActor(message)
	if !vouched || !message.namesInquiry() {
		return false
	}
	works := func(name string) bool { return strings.EqualFold(d.env.Current.People[name].Mail, actor.ID) }
	if !slices.ContainsFunc(slices.Sorted(maps.Keys(d.env.Current.People)), works) {
		return false
	}
	received.Disposition, received.Reason = schemas.DispositionRefused, schemas.WordClosed
	d.emit(&received)
	return true
}

// personIn returns which of the people who are asked has written a mail, if one has. Who they are is what the
// profile in force says.
func (d *decision) personIn(message *Message, inquiry *workflow.Inquiry) (schemas.Actor, bool) {
	actor, vouched := mailActor(message)
	for _, name := range inquiry.People {
		if person, known := d.env.Current.People[name]; known && vouched && actor.ID != "" && strings.EqualFold(person.Mail, actor.ID) {
			actor.ID = name
			return actor, true
		}
	}
	return actor, false
}

// mailActor is who has written a mail, and whether that is believed: it has to be vouched for, or to name the letter
// that asks, where nobody checks mail.
func mailActor(message *Message) (schemas.Actor, bool) {
	actor := schemas.Actor{Via: schemas.ViaMail, ID: addressOf(message.Author)}
	switch {
	case message.Channel != schemas.ChannelEmail || message.Origin == schemas.OriginUnproven || message.Origin == schemas.OriginRefuted:
		return actor, false
	case message.Origin == schemas.OriginProven:
		actor.Proof = schemas.ProofMail
	case !message.namesInquiry():
		return actor, false
	default:
		actor.Proof = schemas.ProofLetter
	}
	return actor, true
}

// beforeAsked reports whether a word was taken before its question went out. Servers of mail tell whole seconds.
func (d *decision) beforeAsked(inquiry *workflow.Inquiry) bool {
	return inquiry.Asked.IsZero() || d.input.Event.Time.Before(inquiry.Asked.Truncate(time.Second))
}

// inTime reports whether a word on an inquiry counts: it is open, somebody was asked, and its adapter has
// taken the word before its time was over, whenever that is decided.
func (d *decision) inTime(inquiry *workflow.Inquiry) bool {
	return inquiry.Open() && inquiry.Notices > 0 && (inquiry.Asked.IsZero() || d.input.Event.Time.Before(inquiry.Expires()))
}

func (d *decision) word(inquiry *workflow.Inquiry, said *plan.Word, received schemas.MessageReceived) {
	received.Run, received.Inquiry, received.Disposition = d.state.Active.Number, inquiry.Inquiry, schemas.DispositionAnswered
	d.emit(&received)
	said.Sequence, said.Text = d.input.Sequence, inlineOrReferTo(schemas.Result{Text: said.Whole}, d.input.Sequence)
	if len(said.Files) > 0 { // they stand in the input
		said.Text = referTo(schemas.Result{Text: said.Whole}, d.input.Sequence)
	}
	d.planDecision(d.env.Pinned).Answer(inquiry, said)
}

// requesterIn returns who has written a message, if they have begun the run. In a chat it is who its provider says.
func requesterIn(message *Message, asked *schemas.Incoming) (schemas.Actor, bool) {
	if message.Channel != asked.Channel || asked.Reply == nil {
		return schemas.Actor{}, false
	}
	if message.Channel == schemas.ChannelChat {
		user := userOf(message.Author)
		return schemas.Actor{Via: schemas.ViaChat, ID: user, Proof: schemas.ProofSignature}, user == userOf(asked.Author)
	}
	actor, vouched := mailActor(message)
	if !vouched {
		return actor, false
	}
	known := func(address string) bool { return address != "" && strings.EqualFold(address, actor.ID) }
	return actor, known(addressOf(asked.Author)) || slices.ContainsFunc(asked.Reply.To, func(to schemas.Address) bool { return known(to.Address) })
}

func userOf(author *schemas.Author) string {
	if author == nil {
		return ""
	}
	return author.User
}

func addressOf(author *schemas.Author) string {
	if author == nil {
		return ""
	}
	return author.Address
}

// controlWord takes a word on an inquiry that a person has given to the service itself.
func (d *decision) controlWord(control *schemas.Control, number int, received schemas.MessageReceived) {
	var inquiry *workflow.Inquiry
	if active := d.state.Active; active != nil && active.Number == number {
		inquiry = active.OpenInquiry()
		if control.Inquiry > 0 {
			inquiry = active.Inquiry(control.Inquiry)
		} else if inquiry == nil {
			inquiry = active.Inquiry(len(active.Inquiries))
		}
	}
	choice := schemas.ChoiceAnswer
	if control.Action == schemas.ControlReject {
		choice = schemas.ChoiceReject
	}
	switch {
	case inquiry == nil:
		received.Reason = schemas.WordNotAsked
	case inquiry.Answered != nil:
		received.Reason = schemas.WordDecided
	case inquiry.Closed == schemas.InquiryExpired || inquiry.Open() && !d.inTime(inquiry):
		received.Reason = schemas.WordExpired
	case !inquiry.Open():
		received.Reason = schemas.WordClosed
	case !slices.Contains(inquiry.Kind.Choices(), choice):
		received.Reason = schemas.WordChoice
	default:
		actor := schemas.Actor{Via: schemas.ViaAPI, ID: cut(control.By, maxNote), Proof: schemas.ProofToken}
		d.word(inquiry, &plan.Word{Choice: choice, Actor: actor, Whole: control.Text}, received)
		return
	}
	received.Disposition = schemas.DispositionRefused
	d.emit(&received)
}

// answersTo are what people have answered about a task since it was planned, as its agent is told.
func (env *Env) answersTo(state *State, asked *workflow.Task) []schemas.InquiryAnswer {
	var told []schemas.InquiryAnswer
	for _, inquiry := range state.Active.Inquiries {
		if inquiry.Task != asked.ID || inquiry.Answered == nil || inquiry.Kind != schemas.InquiryInput {
			continue
		}
		answer := schemas.InquiryAnswer{
			Inquiry: schemas.InquiryID(schemas.RunID(state.Session, state.Active.Number), inquiry.Inquiry), Question: inquiry.Question,
			Text: cut(env.text(inquiry.Answered.Text), maxQuoted), Values: inquiry.Answered.Values, Time: inquiry.Ended,
		}
		for i := range inquiry.Needs {
			answer.Needs = append(answer.Needs, inquiry.Needs[i].Name)
		}
		told = append(told, answer)
	}
	return told
}
