package session

import (
	"strings"

	"podium/schemas"
)

// A DeliveryStatus is what a mail system says of an answer that was sent.
type DeliveryStatus struct {
	MessageID string // of the answer
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
	d.emit(&schemas.DeliveryBounced{
		Run: received.Run, Message: received.ID, Action: cut(report.Action, maxNote), Status: cut(report.Status, maxNote),
		Failed: report.Action == "failed" || strings.HasPrefix(report.Status, "5."),
	})
}

// unmatchedBounce is why nothing comes of a report on a mail that this session did
// not send.
const unmatchedBounce = "unmatched_bounce"

// runOfMessageID returns the run whose answer has a Message-ID, or 0. The id begins with that
// of the effect, and so names run and task to whoever knows the session.
func (d *decision) runOfMessageID(messageID string) int {
	effect, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(messageID), "<"), "@")
	if named, _, more := strings.Cut(effect, "."); more {
		effect = strings.ToLower(named) // ids without more were never known in another case
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
