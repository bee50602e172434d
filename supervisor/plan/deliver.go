package plan

import "podium/schemas"

// Deliver has the answer of a settled run delivered, by a further attempt when there
// were some.
func (t *Decision) Deliver() {
	agent, attempt := t.Run.Message.ReplyAgent(), 1
	if t.Run.Delivery != nil {
		attempt += t.Run.Delivery.Attempt
	}
	switch t.Admission.Admit(agent) {
	case Admitted, Unavailable: // an answer is worth the try
		t.dispatch(schemas.DeliveryTask, "", agent, attempt)
	case Full:
		t.ready(schemas.DeliveryTask, "", agent)
	}
}
