package sim

import (
	"podium/bus"
	"podium/schemas"
)

// In every eighth world half of the answers are refused for good while there are
// faults, and people have them sent again: some at any time, and all, twice, once the faults are
// over. Nothing is drawn for that, so that the other worlds do what they did.

func (w *World) resends() bool { return w.Seed%8 == 1 || w.people != nil && w.people.resends }

// refuses reports whether an answer is refused, and notes whose it is.
func (pr *pendingRequest) refuses() bool {
	w := pr.agent.world
	if !w.resends() || w.calm || pr.task.TaskID != schemas.DeliveryTask || w.serial%2 == 0 {
		return false
	}
	w.refused = append(w.refused, pr.request.Payload.RequestID)
	return true
}

// resend asks for one of the answers that were refused; the run may be under way, or it
// was sent since.
func (w *World) resend() {
	if len(w.refused) > 0 {
		w.sendAgain(w.refused[w.serial%len(w.refused)])
	}
}

// resendAll asks for all of them, and reports whether there are any.
func (w *World) resendAll() bool {
	for _, run := range w.refused {
		w.sendAgain(run)
	}
	return len(w.refused) > 0
}

func (w *World) sendAgain(run string) {
	id, _, err := schemas.ParseRunID(run)
	w.must(err)
	event := schemas.Event{
		ID: w.id("resend"), Source: "/podium/sim", Type: schemas.TypeControl, Time: w.now, DataContentType: schemas.MediaTypeJSON,
	}
	w.body(&event, schemas.Control{Action: schemas.ControlResend, Run: run, By: "sim", AllowDuplicate: w.serial%3 == 0})
	w.publish(bus.ControlSubject(schemas.ShardOf(id, w.configuration.shards)), &event)
}
