package plan

import "podium/schemas"

// Deliver has the answer of a settled run delivered, by a further attempt when there
// were some.
func (d *Decision) Deliver() {
	agent, attempt := d.Run.Message.ReplyAgent(), 1
	if d.Run.Delivery != nil {
		attempt += d.Run.Delivery.Attempt
	}
	switch d.Admission.Admit(agent) {
	case Admitted, Unavailable: // an answer is worth the try
		d.dispatch(schemas.DeliveryTask, "", agent, attempt)
	case Full:
		d.ready(schemas.DeliveryTask, "", agent)
	}
}
