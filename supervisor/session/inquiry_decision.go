package session

import (
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

func refuseWord(d *decision, received schemas.MessageReceived, inquiry *workflow.Inquiry, reason schemas.Rejection) {
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
func mayDecide(d *decision, message *Message, inquiry *workflow.Inquiry) (schemas.Actor, bool) {
	if inquiry.OfRequester() {
		actor, may := requesterIn(d, message)
		return actor, may && actor.Proof != schemas.ProofLetter
	}
	actor, may := personIn(d, message, inquiry)
	asked := may && (fault.Is("requester counts") || !hasBegun(d, actor.ID, addressOf(message.Author)))
	if !inquiry.Kind.ExcludesRequester() {
		asked = may || fault.Is("who knows the letter may say what is done") // they agree to nothing
	}
	proven := actor.Proof != "" && (actor.Proof != schemas.ProofLetter || fault.Is("the letter is proof enough"))
	return actor, asked && proven
}

// hasBegun reports whether a person of the profile, who writes from an address, has begun the run: in a chat, or by mail. All addresses of one person
// are theirs, and one that the answer goes to is the requester's.
func hasBegun(d *decision, name, address string) bool {
	begun, person := &d.state.Active.Message, peopleOf(d)[name]
	if begun.Reply != nil && person.Chat.Is(begun.Reply.Channel, begun.Author) {
		return !fault.Is("who has begun a run in a chat decides about it by their name")
	}
	return begun.IsRequester(address) || begun.IsRequester(person.Mail)
}

// quotesAnother reports whether a reply to the email about an approval quotes the code of another question: then its words may be about that.
func quotesAnother(d *decision, message *Message, name schemas.InquiryName, inquiry *workflow.Inquiry) bool {
	if !inquiry.Kind.IsRestricted() || message.Channel != schemas.ChannelEmail {
		return false
	}
	own := []string{codeOf(d, name)}
	if d.state.Active != nil {
		own = append(own, codeOf(d, schemas.InquiryName{Run: d.state.Active.Number, Inquiry: inquiry.Inquiry}))
	}
	if inquiry.Adopts != nil {
		for _, letter := range inquiry.Adopts.Letters {
			own = append(own, codeOf(d, letter))
		}
	}
	for _, text := range []string{message.Subject, message.Text, message.Quoted} {
		if slices.ContainsFunc(schemas.InquiryCodes(text), func(code string) bool { return !slices.Contains(own, code) }) {
			return true
		}
	}
	return false
}

func codeOf(d *decision, name schemas.InquiryName) string {
	return schemas.InquiryCode(schemas.RunID(d.state.Session, name.Run), name.Inquiry)
}
