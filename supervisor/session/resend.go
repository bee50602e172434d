package session

import (
	"slices"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
	"podium/supervisor/recovery"
)

// An EndedRun is a run that is over.
type EndedRun struct {
	History *workflow.RunHistory // nil when no record tells of it
	Profile *plan.Profile        // that it is pinned to
}

// resendObjection is why the answer of the run is not sent again; empty is nothing.
func (e *EndedRun) resendObjection(allowDuplicate bool) string {
	if e.History == nil {
		return schemas.ResendNotEnded
	}
	if reason := e.History.Resendable(allowDuplicate); reason != "" || e.Profile == nil || !e.Profile.Unagreed(&e.History.Run) {
		return reason
	}
	return schemas.ResendUnagreed
}

// requestResend takes a person's word that an answer which was not delivered is to be.
func requestResend(d *decision, control *schemas.Control, received schemas.MessageReceived) {
	number := received.Run
	asked := schemas.ResendRequested{Run: number, AllowDuplicate: control.AllowDuplicate}
	switch {
	case d.state.Active != nil && d.state.Active.Number == number || d.state.Queue.has(number):
		received.Reason = schemas.ResendNotEnded
	case slices.ContainsFunc(d.state.Resends, func(waits schemas.ResendRequested) bool { return waits.Run == number }):
		received.Reason = schemas.ResendWaits
	default:
		former := d.env.EndedRun(number)
		if former == nil {
			return // to be decided again once it can be read
		}
		received.Reason = former.resendObjection(asked.AllowDuplicate)
	}
	if received.Reason != "" {
		received.Disposition = schemas.DispositionRefused
		d.emit(&received)
		return
	}
	d.emit(&received)
	d.emit(&asked)
}

// reopenDelivery goes on with the delivery of an answer, when one is to be sent again and no
// other run is under way.
func reopenDelivery(d *decision) {
	if d.state.Active != nil || len(d.state.Resends) == 0 {
		return
	}
	asked := d.state.Resends[0]
	former := d.env.EndedRun(asked.Run)
	if former == nil || former.History == nil {
		return // to be decided again once it can be read
	}
	reopened := former.History.Reopening(asked.AllowDuplicate)
	d.emit(&reopened)
	d.planDecision(former.Profile).Deliver()
}

// applyReopened makes a former run the one under way.
func (s *State) applyReopened(f *schemas.DeliveryReopened) {
	s.Active = workflow.Reopen(f)
	var left []schemas.ResendRequested
	for _, waits := range s.Resends {
		if waits.Run != f.Run {
			left = append(left, waits)
		}
	}
	s.Resends = left
}

// endedFor reports whether a task of a run is one that nothing more happens to because the
// run has ended; what the one under way has asked is known.
func endedFor(d *decision, number int, task string) bool {
	active := d.state.Active
	if active == nil || active.Number != number {
		return number <= d.state.begun()
	}
	return active.Reopened && task != schemas.DeliveryTask
}

// retryRun takes a person's word that a run which has ended is begun anew. It is another run, with ids and effects of its own, for the same message.
func retryRun(d *decision, control *schemas.Control, received schemas.MessageReceived) {
	number := received.Run
	former, made := d.env.EndedRun(number), recovery.Retry{}
	if former == nil {
		return // to be decided again once it can be read
	}
	if received.Reason = retryObjection(d, former, number); received.Reason == "" {
		made, received.Reason = retryOf(&former.History.Run, control)
	}
	if received.Reason != "" {
		received.Disposition = schemas.DispositionRefused
		d.emit(&received)
		return
	}
	received.Run, received.Disposition = d.state.Runs+1, schemas.DispositionStarted
	d.emit(&received)
	message := former.History.Message
	content := schemas.Result{Text: plan.RequestText(&message, d.env.Read)}
	message.ID, d.retries = d.input.Event.ID, number
	started := startRun(d, received.Run, message, content.Text, nil)
	if len(made.Tasks) == 0 { // it never had a plan
		started.Begin(content)
	} else {
		started.Retry(&former.History.Run, &made)
	}
	started.Resume()
}

// retryObjection is why a run is not begun anew, whatever of it; empty is nothing.
func retryObjection(d *decision, former *EndedRun, number int) string {
	switch active := d.state.Active; {
	case active != nil && active.Number == number || d.state.Queue.has(number) || former.History == nil || former.History.Phase != workflow.PhaseComplete:
		return schemas.ResendNotEnded
	case d.env.Unconfigured:
		return string(schemas.WordNotAllowed)
	case !d.state.Idle() || len(d.state.Resends) > 0:
		return schemas.RetryBusy
	case former.History.Message.Upstream != nil:
		return schemas.RetryUpstream
	case former.History.Message.Withheld == schemas.WithheldRefuted:
		return schemas.RetryNothing
	}
	return ""
}

func retryOf(run *workflow.Run, control *schemas.Control) (recovery.Retry, string) {
	made, there := recovery.RetryOf(run, control.From)
	if !there {
		return made, schemas.RetryUnknownTask
	}
	return made, made.Fault(control.AllowDuplicate)
}
