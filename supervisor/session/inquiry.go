package session

import (
	"maps"
	"slices"
	"strings"
	"time"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// askedInThread returns the oldest open inquiry by which whoever has written is asked in the thread of the run, or nil. Whoever has begun the run is asked as that first.
// A letter is of no thread, and who may not decide an inquiry is not asked by it.
func askedInThread(d *decision, message *Message) *workflow.Inquiry {
	active := d.state.Active
	if own := active.OpenInquiry(); own != nil && message.Author != nil && userOf(message.Author) == userOf(active.Message.Author) {
		return nil
	}
	if message.Channel != schemas.ChannelChat && !fault.Is("a letter that names no question is one of the thread") {
		return nil
	}
	inquiries := slices.Clone(active.Inquiries)
	if fault.Is("the newest question in the thread is answered") {
		slices.Reverse(inquiries)
	}
	for _, inquiry := range inquiries {
		if !inquiry.Open() || !inquiry.InThread {
			continue
		}
		_, may := personIn(d, message, inquiry)
		if may && inquiry.Kind.IsRestricted() {
			_, may = mayDecide(d, message, inquiry)
		}
		if may {
			return inquiry
		}
	}
	return nil
}

// namesInquiry reports whether a message answers a letter that asks. One that answers another letter of ours says no more of
// what it is about than one that answers none.
func (m *Message) namesInquiry() bool { return m.Answers != nil && m.Answers.Inquiry > 0 }

// wordIn is what a message says to an inquiry. A subject answers nothing.
func wordIn(message *Message, actor schemas.Actor) (plan.Word, bool) {
	said := plan.Word{Choice: schemas.ChoiceAnswer, Actor: actor, Whole: message.Text, Files: message.Files}
	if message.Wordless {
		said.Whole = ""
	}
	return said, said.Whole != "" || len(said.Files) > 0
}

// namedInquiry is the inquiry of the session whose letter a message names, if it names one.
func namedInquiry(d *decision, message *Message) (schemas.InquiryName, bool) {
	if !message.namesInquiry() {
		return schemas.InquiryName{}, false
	}
	session, run, err := schemas.ParseRunID(message.Answers.Run)
	return schemas.InquiryName{Run: run, Inquiry: message.Answers.Inquiry}, err == nil && session == d.state.Session
}

// mayHold reports whether what somebody says to an inquiry whose run has ended is kept: it counts once a further attempt of the caller
// adopts the inquiry. An answer is not kept when no attempt can adopt the inquiry, and a second answer never is.
func mayHold(d *decision, message *Message, name schemas.InquiryName) bool {
	left := d.state.left().Named(name)
	if left == nil || left.Word != 0 && !fault.Is("a second word is held") || left.Inquiry.Answered != nil || !d.input.Event.Time.Before(left.Inquiry.Expires()) {
		return false
	}
	actor, may := personIn(d, message, left.Inquiry)
	said, says := wordIn(message, actor)
	if left.Inquiry.Kind.IsRestricted() {
		_, decides := d.env.Current.Decides(said.Whole)
		may, says = may && actor.Proof == schemas.ProofMail && !quotesAnother(d, message, name, left.Inquiry), says && decides
	}
	return may && says
}

// heldWord is what was said to an inquiry before the run under way has adopted it, if whoever has said it may still do so.
func (d *decision) heldWord(run *workflow.Run, sequence uint64, inquiry *workflow.Inquiry) (plan.Word, bool) {
	var said plan.Word
	input, says := d.env.InputAt(sequence), false
	if inquiry.Kind.IsRestricted() {
		said, says = heldDecision(d, run, &input, inquiry)
		return keptWord(said, sequence), says
	}
	switch {
	case input.Message != nil:
		if actor, may := personIn(d, input.Message, inquiry); may {
			said, says = wordIn(input.Message, actor)
		}
	case input.Control != nil:
		said, says = controlSays(input.Control), true
	}
	return keptWord(said, sequence), says
}

// heldDecision is heldWord for an approval: one word that agrees to what is asked as it is, or says no. Who changes something says so to the run under way.
func heldDecision(d *decision, run *workflow.Run, input *Input, inquiry *workflow.Inquiry) (plan.Word, bool) {
	profile := d.env.Current
	if pinned := d.env.Pinned; pinned != nil && pinned.Hash == d.state.Active.ProfileHash {
		profile = pinned
	}
	switch {
	case input.Control != nil:
		said := controlSays(input.Control)
		same := input.Control.Hash == "" || input.Control.Hash == inquiry.Hash
		speaks := input.Control.As == "" || speaksFor(d, input.Control.As, inquiry)
		return said, speaks && same && inquiry.Takes(said.Choice) && len(input.Control.Arguments) == 0
	case input.Message == nil:
		return plan.Word{}, false
	}
	actor, may := mayDecide(d, input.Message, inquiry)
	said, says := wordIn(input.Message, actor)
	choice, decides := profile.Decides(said.Whole)
	view := d.view(profile) // beside that of the decision that asks for the word
	view.Run = run
	change, sound := view.WrittenEdit(inquiry, said.Whole)
	said.Choice = choice
	return said, may && says && decides && sound && len(change) == 0
}

// keptWord refers to the input that holds a word, unless it is small. Files stand in the input.
func keptWord(said plan.Word, sequence uint64) plan.Word {
	said.Sequence, said.Text = sequence, inlineOrReferTo(schemas.Result{Text: said.Whole}, sequence)
	if len(said.Files) > 0 {
		said.Text = referTo(schemas.Result{Text: said.Whole}, sequence)
	}
	if said.Text.Sequence > 0 {
		said.Text.Offset = said.Offset
	}
	return said
}

// peopleOf are those who may say something: those of the profile in force, and nobody where there is none.
func peopleOf(d *decision) map[string]schemas.Person {
	if d.env.Unconfigured {
		return nil
	}
	return d.env.Current.People
}

// personIn returns which of the people who are asked has written a mail, if one has. Who they are is what the
// profile in force says.
func personIn(d *decision, message *Message, inquiry *workflow.Inquiry) (schemas.Actor, bool) {
	if message.Channel == schemas.ChannelChat {
		return personInThread(d, message, inquiry)
	}
	actor, vouched := mailActor(message)
	asked := inquiry.People
	if fault.Is("anybody who works there may answer") {
		asked = slices.Sorted(maps.Keys(d.env.Current.People))
	}
	for _, name := range asked {
		if person, known := fault.Either("who was dismissed may answer", d.env.Pinned, d.env.Current).People[name]; known && vouched && actor.ID != "" && strings.EqualFold(person.Mail, actor.ID) {
			actor.ID = name
			return actor, true
		}
	}
	return actor, false
}

// personInThread is personIn for who has written in a chat. They are asked where they are.
func personInThread(d *decision, message *Message, inquiry *workflow.Inquiry) (schemas.Actor, bool) {
	actor := chatActor(message)
	people := peopleOf(d)
	if fault.Is("who has left the chat is heard there") {
		people = d.env.Pinned.People
	}
	at := slices.IndexFunc(inquiry.People, func(name string) bool {
		return people[name].Chat.Is(fault.Either("who has the same name in another chat decides", d.state.Active.Message.Reply.Channel, message.Reply.Channel), message.Author)
	})
	if at < 0 && fault.Is("anybody in the thread decides") {
		at = 0
	}
	if !inquiry.InThread || at < 0 {
		return actor, false
	}
	actor.ID = inquiry.People[at]
	return actor, true
}

// mailActor is who has written a mail, and whether that is believed: it has to be vouched for, or to name the letter
// that asks, where nobody checks mail.
func mailActor(message *Message) (schemas.Actor, bool) {
	actor := schemas.Actor{Via: schemas.ViaMail, ID: addressOf(message.Author)}
	switch {
	case message.Channel != schemas.ChannelEmail || (message.Origin == schemas.OriginUnproven || message.Origin == schemas.OriginRefuted) && !fault.Is("an unvouched word counts"):
		return actor, false
	case message.Origin == schemas.OriginProven:
		actor.Proof = schemas.ProofMail
	case !message.namesInquiry() && !fault.Is("an unvouched word counts"):
		return actor, false
	default:
		actor.Proof = schemas.ProofLetter
	}
	return actor, true
}

// beforeAsked reports whether a word was taken before its question went out. Servers of mail tell whole seconds.
func beforeAsked(d *decision, inquiry *workflow.Inquiry) bool {
	return inquiry.Asked.IsZero() || !fault.Is("a word in the thread from before the question is one on it") && d.input.Event.Time.Before(inquiry.Asked.Truncate(time.Second))
}

// inTime reports whether a reply to an inquiry counts: the inquiry is open, people were notified, and the reply was received before it expired,
// whenever that is decided.
func inTime(d *decision, inquiry *workflow.Inquiry) bool {
	open := inquiry.Open() || inquiry.Answered != nil && fault.Is("a second word on the same inquiry counts")
	notified := inquiry.Notices > 0 || inquiry.Upstream
	beforeExpiry := inquiry.Asked.IsZero() || d.input.Event.Time.Before(inquiry.Expires()) || fault.Is("a late word counts")
	return open && notified && (beforeExpiry || len(inquiry.People) > 0 && fault.Is("work that comes late is taken"))
}

func applyWord(d *decision, inquiry *workflow.Inquiry, said *plan.Word, received schemas.MessageReceived) {
	received.Run, received.Inquiry, received.Disposition = d.state.Active.Number, inquiry.Inquiry, schemas.DispositionAnswered
	d.emit(&received)
	kept := keptWord(*said, d.input.Sequence)
	d.planDecision(d.env.Pinned).Answer(inquiry, &kept)
}

// cliProvider is the provider of what comes from Podium's own command line, which signs nothing.
const cliProvider = "cli"

// chatActor returns who has written a chat message, and how far that is known: a provider signs it, and who calls a
// webhook only claims it, with the secret of the channel.
func chatActor(message *Message) schemas.Actor {
	actor := schemas.Actor{Via: schemas.ViaChat, ID: userOf(message.Author), Proof: schemas.ProofSignature}
	switch {
	case message.Reply.Provider == cliProvider:
		actor.Via, actor.Proof = schemas.ViaCLI, ""
	case message.Reply.Provider == string(schemas.ProviderWebhook):
		actor.Proof = schemas.ProofToken
	}
	return actor
}

// requesterIn returns who has written a message, if they have begun the run under way.
func requesterIn(d *decision, message *Message) (schemas.Actor, bool) {
	asked := &d.state.Active.Message
	if message.Channel != asked.Channel || asked.Reply == nil {
		return schemas.Actor{}, false
	}
	if message.Channel == schemas.ChannelChat {
		actor := chatActor(message)
		return actor, actor.ID == userOf(asked.Author) || fault.Is("somebody else's word counts")
	}
	actor, vouched := mailActor(message)
	if !vouched {
		return actor, false
	}
	known := func(address string) bool { return address != "" && strings.EqualFold(address, actor.ID) }
	return actor, fault.Is("somebody else's word counts") || known(addressOf(asked.Author)) || slices.ContainsFunc(asked.Reply.To, func(to schemas.Address) bool { return known(to.Address) })
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

// answersTo are what people have answered about a task since it was planned, as its agent is told.
func (env *Env) answersTo(state *State, asked *workflow.Task) []schemas.InquiryAnswer {
	var told []schemas.InquiryAnswer
	for _, inquiry := range state.Active.Inquiries {
		if !state.Active.SaidAbout(inquiry.Task, asked) || inquiry.Answered == nil || !inquiry.Kind.IsInput() {
			continue
		}
		answer := schemas.InquiryAnswer{
			Inquiry: schemas.InquiryID(schemas.RunID(state.Session, state.Active.Number), inquiry.Inquiry), Question: inquiry.Question,
			Text: fault.Either("an agent is told the question for an answer", inquiry.Question, cut(env.text(inquiry.Answered.Text), maxQuoted)), Values: inquiry.Answered.Values, Time: inquiry.Ended,
		}
		for i := range inquiry.Needs {
			answer.Needs = append(answer.Needs, inquiry.Needs[i].Name)
		}
		told = append(told, answer)
	}
	return told
}
