package session

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

func (d *decision) refuseWord(received schemas.MessageReceived, inquiry *workflow.Inquiry, reason schemas.Rejection) {
	received.Run, received.Inquiry, received.Disposition, received.Reason = d.state.Active.Number, inquiry.Inquiry, schemas.DispositionRefused, string(reason)
	d.emit(&received)
}

// overBy is why a word on an inquiry counts no more: it is open only if its time is over.
func overBy(inquiry *workflow.Inquiry) schemas.Rejection {
	switch {
	case inquiry.Answered != nil && inquiry.Answered.Lacking > 0:
		return schemas.WordHash // whoever has agreed has changed it, and others are asked about that
	case inquiry.Answered != nil:
		return schemas.WordDecided
	case inquiry.Closed == schemas.InquiryExpired || inquiry.Open():
		return schemas.WordExpired
	}
	return schemas.WordClosed
}

// mayDecide returns who has written a message, and whether they decide an approval. A mail server has to vouch for a letter: to know the letter that asks is not enough. Of
// several people who are asked, whoever has begun the run is none.
func (d *decision) mayDecide(message *Message, inquiry *workflow.Inquiry) (schemas.Actor, bool) {
	if inquiry.OfRequester() {
		actor, may := d.requesterIn(message)
		return actor, may && actor.Proof != schemas.ProofLetter
	}
	actor, may := d.personIn(message, inquiry)
	asked := may && (fault.Is("requester counts") || !d.hasBegun(actor.ID, addressOf(message.Author)))
	if !inquiry.Kind.ExcludesRequester() {
		asked = may || fault.Is("who knows the letter may say what is done") // they agree to nothing
	}
	proven := actor.Proof != "" && (actor.Proof != schemas.ProofLetter || fault.Is("the letter is proof enough"))
	return actor, asked && proven
}

// hasBegun reports whether a person of the profile, who writes from an address, has begun the run: in a chat, or by mail. All addresses of one person
// are theirs, and one that the answer goes to is the requester's.
func (d *decision) hasBegun(name, address string) bool {
	begun, person := &d.state.Active.Message, d.people()[name]
	if begun.Reply != nil && person.Chat.Is(begun.Reply.Channel, begun.Author) {
		return !fault.Is("who has begun a run in a chat decides about it by their name")
	}
	return begun.IsRequester(address) || begun.IsRequester(person.Mail)
}

// quotesAnother reports whether a reply to the email about an approval quotes the code of another question: then its words may be about that.
func (d *decision) quotesAnother(message *Message, name schemas.InquiryName, inquiry *workflow.Inquiry) bool {
	if !inquiry.Kind.IsRestricted() || message.Channel != schemas.ChannelEmail {
		return false
	}
	own := []string{d.codeOf(name)}
	if d.state.Active != nil {
		own = append(own, d.codeOf(schemas.InquiryName{Run: d.state.Active.Number, Inquiry: inquiry.Inquiry}))
	}
	if inquiry.Adopts != nil {
		for _, letter := range inquiry.Adopts.Letters {
			own = append(own, d.codeOf(letter))
		}
	}
	for _, text := range []string{message.Subject, message.Text, message.Quoted} {
		if slices.ContainsFunc(schemas.InquiryCodes(text), func(code string) bool { return !slices.Contains(own, code) }) {
			return true
		}
	}
	return false
}

func (d *decision) codeOf(name schemas.InquiryName) string {
	return schemas.InquiryCode(schemas.RunID(d.state.Session, name.Run), name.Inquiry)
}
