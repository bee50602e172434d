package session

import (
	"strings"

	"podium/schemas"
	"podium/schemas/workflow"
)

// A DeliveryStatus is what a mail system says of an answer that was sent.
type DeliveryStatus struct {
	MessageID string // of the answer
	Recipient string // who has not got it; empty when that is not said
	Action    string
	Status    string
}

// bounced notes a report on an answer. It starts nothing: whoever answers a report
// may get the next one.
func (d *decision) bounced(received schemas.MessageReceived, report *DeliveryStatus) {
	received.Disposition, received.Reason = schemas.DispositionIgnored, unmatchedBounce
	if received.Run = d.runOfMessageID(report.MessageID); received.Run > 0 {
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
	inquiry := d.inquiryOfMessageID(received.Run, report.MessageID)
	if inquiry != nil {
		bounced.Inquiry = inquiry.Inquiry
	}
	d.emit(&bounced)
	if inquiry != nil && inquiry.Open() && bounced.Failed && d.onlyRecipient(inquiry, report.Recipient) {
		d.planDecision(d.env.Pinned).Unanswered(inquiry, schemas.InquiryUnreachable)
	}
}

// onlyRecipient reports whether a report is about all whom a question was for.
func (d *decision) onlyRecipient(inquiry *workflow.Inquiry, recipient string) bool {
	asked := inquiry.To
	if len(inquiry.People) == 0 {
		asked = recipients(d.state.Active.Message.Reply)
	}
	return len(asked) == 1 && (recipient == "" || strings.EqualFold(asked[0].Address, recipient))
}

// inquiryOfMessageID returns the inquiry of the run under way that a notice with that Message-ID tells of, or nil.
func (d *decision) inquiryOfMessageID(run int, messageID string) *workflow.Inquiry {
	if d.state.Active == nil || d.state.Active.Number != run {
		return nil
	}
	effect, asks := effectIn(messageID), schemas.RunID(d.state.Session, run)
	if upstream := d.state.Active.Message.Upstream; upstream != nil && upstream.Effect != "" {
		asks = upstream.Effect
	}
	for _, task := range d.state.Active.DecisionTasks {
		if number := task.Notice(); number > 0 && schemas.EffectID(asks, task.ID) == effect {
			return d.state.Active.Inquiry(number)
		}
	}
	return nil
}

// unmatchedBounce is why nothing comes of a report on a mail that this session did
// not send.
const unmatchedBounce = "unmatched_bounce"

// runOfMessageID returns the run whose answer has a Message-ID, or 0. The id begins with that
// of the effect, and so names run and task to whoever knows the session.
func (d *decision) runOfMessageID(messageID string) int {
	effect := effectIn(messageID)
	if active := d.state.Active; active != nil && d.inquiryOfMessageID(active.Number, messageID) != nil {
		return active.Number
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

// effectIn returns the id of the effect that a Message-ID begins with.
func effectIn(messageID string) string {
	effect, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(messageID), "<"), "@")
	if named, _, more := strings.Cut(effect, "."); more {
		effect = strings.ToLower(named) // ids without more were never known in another case
	}
	return effect
}
