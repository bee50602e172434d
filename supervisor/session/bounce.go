package session

import (
	"strings"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
)

// A DeliveryStatus is what a mail system says of an answer that was sent.
type DeliveryStatus struct {
	MessageID string // of the answer
	Recipient string // who has not got it; empty when that is not said
	Action    string
	Status    string
}

// noteBounce notes a report on an answer. It starts nothing: whoever answers a report
// may get the next one.
func noteBounce(d *decision, received schemas.MessageReceived, report *DeliveryStatus) {
	received.Disposition, received.Reason = schemas.DispositionIgnored, unmatchedBounce
	if received.Run = runOfMessageID(d, report.MessageID); received.Run > 0 {
		received.Reason = string(schemas.MailBounce)
	}
	d.emit(&received)
	if received.Run == 0 {
		return
	}
	bounced := schemas.DeliveryBounced{
		Run: received.Run, Message: received.ID, Action: cut(report.Action, maxNote), Status: cut(report.Status, maxNote),
		Failed: report.Action == "failed" || strings.HasPrefix(report.Status, "5."),
	}
	inquiry, explains := inquiryOfMessageID(d, received.Run, report.MessageID)
	switch left := d.state.left().Named(leftOfMessageID(d, report.MessageID)); {
	case inquiry != nil:
		bounced.Inquiry = inquiry.Inquiry
		if bounced.Failed && !explains {
			bounced.Recipient = oneAsked(inquiry, report.Recipient)
		}
	case left != nil && onlyRecipient(d, left.Inquiry, report.Recipient):
		bounced.Inquiry = left.Inquiry.Inquiry
	case left != nil && bounced.Failed:
		if bounced.Recipient = oneAsked(left.Inquiry, report.Recipient); bounced.Recipient != "" {
			bounced.Inquiry = left.Inquiry.Inquiry
		}
	}
	d.emit(&bounced)
	if inquiry == nil || explains || !inquiry.Open() || !bounced.Failed {
		return // who is told how to decide has got the question: they have written to it
	}
	inquiry = d.state.Active.Inquiry(inquiry.Inquiry)
	if nobody := bounced.Recipient != "" && !fault.Is("a question that has reached nobody stays open") && !inquiry.Reaches(); nobody || onlyRecipient(d, inquiry, report.Recipient) {
		d.planDecision(d.env.Pinned).Unanswered(inquiry, schemas.InquiryUnreachable)
	}
}

// oneAsked returns the address, as an inquiry has it, of the one of several who were asked whom a report is about; empty is nobody of them.
func oneAsked(inquiry *workflow.Inquiry, recipient string) string {
	if len(inquiry.To) < 2 {
		return ""
	}
	for _, to := range inquiry.To {
		if strings.EqualFold(to.Address, recipient) {
			return to.Address
		}
	}
	return ""
}

// onlyRecipient reports whether a report is about all whom a question was for.
func onlyRecipient(d *decision, inquiry *workflow.Inquiry, recipient string) bool {
	asked := inquiry.To
	if inquiry.OfRequester() {
		asked = recipients(d.state.Active.Message.Reply)
	}
	return (len(asked) == 1 || fault.Is("a letter that comes back ends the question to the others")) && (recipient == "" || strings.EqualFold(asked[0].Address, recipient))
}

// inquiryOfMessageID returns the inquiry of the run under way that a notice with that Message-ID tells of, or nil, and whether the notice only explains how it is decided.
func inquiryOfMessageID(d *decision, run int, messageID string) (inquiry *workflow.Inquiry, explains bool) {
	if d.state.Active == nil || d.state.Active.Number != run {
		return nil, false
	}
	effect, asks := schemas.EffectOfMessageID(messageID), schemas.RunID(d.state.Session, run)
	for _, task := range d.state.Active.DecisionTasks {
		if number := task.HumanTask(); number > 0 && schemas.EffectID(asks, task.ID) == effect {
			return d.state.Active.Inquiry(number), task.IsExplanation()
		}
	}
	for _, inquiry := range d.state.Active.Inquiries {
		if inquiry.Adopts != nil && letterOf(d, inquiry.Adopts.Letters, effect).Run > 0 {
			return inquiry, false
		}
	}
	return nil, false
}

// leftOfMessageID is the name of the inquiry that a letter with that Message-ID asks about, if runs before have left it.
func leftOfMessageID(d *decision, messageID string) schemas.InquiryName {
	if left := d.state.left(); left != nil {
		for i := range left.Inquiries {
			if name := letterOf(d, left.Inquiries[i].Letters(), schemas.EffectOfMessageID(messageID)); name.Run > 0 {
				return schemas.InquiryName{Run: left.Inquiries[i].Run, Inquiry: left.Inquiries[i].Inquiry.Inquiry}
			}
		}
	}
	return schemas.InquiryName{}
}

// letterOf returns the name by which one of the notices with that effect asks; none has the run 0.
func letterOf(d *decision, letters []schemas.InquiryName, effect string) schemas.InquiryName {
	for _, letter := range letters {
		for notice := 1; notice <= 2; notice++ { // the question and a reminder
			if schemas.EffectID(schemas.RunID(d.state.Session, letter.Run), schemas.NoticeTask(letter.Inquiry, notice)) == effect {
				return letter
			}
		}
	}
	return schemas.InquiryName{}
}

// unmatchedBounce is why nothing comes of a report on a mail that this session did
// not send.
const unmatchedBounce = "unmatched_bounce"

// runOfMessageID returns the run whose answer has a Message-ID, or 0. The id begins with that
// of the effect, and so names run and task to whoever knows the session.
func runOfMessageID(d *decision, messageID string) int {
	effect := schemas.EffectOfMessageID(messageID)
	if active := d.state.Active; active != nil {
		if inquiry, _ := inquiryOfMessageID(d, active.Number, messageID); inquiry != nil {
			return active.Number
		}
	}
	if left := leftOfMessageID(d, messageID); left.Run > 0 {
		return left.Run
	}
	for number := d.state.begun(); number > 0 && effect != ""; number-- {
		if schemas.EffectID(schemas.RunID(d.state.Session, number), schemas.DeliveryTask) != effect {
			continue
		}
		if active := d.state.Active; active != nil && active.Number == number && (active.Delivery == nil || active.Delivery.Attempt == 0) {
			return 0 // it is not sent yet
		}
		return number
	}
	return 0
}
