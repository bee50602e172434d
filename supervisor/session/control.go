package session

import (
	"podium/schemas"
)

// control takes a person's command: to cancel a run, to send its answer again, or to say something to an inquiry.
func (d *decision) control(control *schemas.Control) {
	id := d.input.Event.ID
	switch control.Action {
	case schemas.ControlCancel, schemas.ControlResend, schemas.ControlAnswer, schemas.ControlApprove, schemas.ControlReject, schemas.ControlRaise, schemas.ControlReplan, schemas.ControlRetry:
	case schemas.ControlQuarantineRetry, schemas.ControlQuarantineDiscard:
		return
	}
	if d.state.HasTaken(id) {
		return
	}
	number, err := d.target(control)
	if err != nil {
		d.refuse(schemas.QuarantineUnknownRun, err.Error())
		return
	}
	received := schemas.MessageReceived{ID: id, Sequence: d.input.Sequence, Run: number, Disposition: schemas.DispositionControl}
	if control.Via == schemas.ViaCLI {
		by := actorOf(control)
		received.By = &by
	}
	switch {
	case number < 1 || number > d.state.Runs:
		d.refuse(schemas.QuarantineUnknownRun, "the session has no run of that number")
	case control.As != "" && !d.speaksFor(control.As, nil):
		received.Disposition, received.Reason = schemas.DispositionRefused, schemas.WordNotAllowed
		d.emit(&received)
	case control.Action == schemas.ControlResend:
		d.requestResend(control, received)
	case control.Action == schemas.ControlRetry:
		d.retry(control, received)
	case control.Action != schemas.ControlCancel:
		d.controlWord(control, number, received)
	case d.state.Active != nil && d.state.Active.Number == number && (!d.state.Active.Settled() || d.state.Active.AnswerWaits()):
		d.emit(&received)
		if control.Run == "" { // the request's word: another attempt may follow
			d.planDecision(d.env.Pinned).Release()
		} else {
			d.planDecision(d.env.Pinned).Cancel()
		}
	case d.state.Queue.has(number):
		received.Final = control.Run != "" && d.env.Current.Edition >= schemas.Edition3
		d.emit(&received)
	default:
		received.Disposition, received.Reason = schemas.DispositionRefused, "already_settled"
		d.emit(&received)
	}
}

// target returns the run that a control word is about, by its own id or by that
// of the request which began it.
func (d *decision) target(control *schemas.Control) (int, error) {
	if control.Run == "" && control.Request != "" {
		return d.state.RunOf(control.Request), nil
	}
	_, number, err := schemas.ParseRunID(control.Run)
	return number, err
}
