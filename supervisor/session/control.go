package session

import (
	"cmp"
	"slices"

	"podium/schemas"
	"podium/schemas/fault"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// handleControl takes a person's command: to cancel a run, to send its answer again, or to say something to an inquiry.
func handleControl(d *decision, control *schemas.Control) {
	id := d.input.Event.ID
	switch control.Action {
	case schemas.ControlCancel, schemas.ControlResend, schemas.ControlAnswer, schemas.ControlApprove, schemas.ControlReject, schemas.ControlRaise, schemas.ControlReplan, schemas.ControlRetry,
		schemas.ControlGiveUp:
	case schemas.ControlQuarantineRetry, schemas.ControlQuarantineDiscard, schemas.ControlResetBreaker:
		return
	}
	if d.state.HasTaken(id) {
		return
	}
	number, err := targetRun(d, control)
	if err != nil {
		refuseInput(d, schemas.QuarantineUnknownRun, err.Error())
		return
	}
	received := schemas.MessageReceived{ID: id, Sequence: d.input.Sequence, Run: number, Disposition: schemas.DispositionControl}
	if control.Via == schemas.ViaCLI {
		by := actorOf(control)
		received.By = &by
	}
	switch {
	case number < 1 || number > d.state.Runs:
		refuseInput(d, schemas.QuarantineUnknownRun, "the session has no run of that number")
	case control.As != "" && !speaksFor(d, control.As, nil):
		received.Disposition, received.Reason = schemas.DispositionRefused, string(schemas.WordNotAllowed)
		d.emit(&received)
	case control.Action == schemas.ControlResend:
		requestResend(d, control, received)
	case control.Action == schemas.ControlRetry:
		retryRun(d, control, received)
	case control.Action == schemas.ControlGiveUp:
		giveUpAnswer(d, number, received)
	case control.Action != schemas.ControlCancel:
		controlWord(d, control, number, received)
	case d.state.Active != nil && d.state.Active.Number == number && (!d.state.Active.Settled() || d.state.Active.AnswerWaits() && !fault.Is("an answer that waits cannot be taken back")):
		d.emit(&received)
		if control.Run == "" { // the request's word: another attempt may follow
			d.planDecision(d.env.Pinned).Release()
		} else {
			d.planDecision(d.env.Pinned).Cancel()
		}
	case d.state.Queue.has(number):
		received.Final = control.Run != ""
		d.emit(&received)
	default:
		received.Disposition, received.Reason = schemas.DispositionRefused, schemas.CancelSettled
		d.emit(&received)
	}
}

// giveUpAnswer takes a person's command that the answer of the run under way is not sent.
func giveUpAnswer(d *decision, number int, received schemas.MessageReceived) {
	active := d.state.Active
	switch {
	case active != nil && active.Number == number:
		received.Reason = active.GiveUpObjection()
	case d.state.Queue.has(number):
		received.Reason = schemas.GiveUpNotSettled
	default:
		received.Reason = schemas.GiveUpEnded
	}
	if received.Reason != "" {
		received.Disposition = schemas.DispositionRefused
		d.emit(&received)
		return
	}
	d.emit(&received)
	d.planDecision(d.env.Pinned).GiveUpAnswer()
}

// targetRun returns the run that a control word is about, by its own id or by that
// of the request which began it.
func targetRun(d *decision, control *schemas.Control) (int, error) {
	if control.Run == "" && control.Request != "" {
		return d.state.RunOf(control.Request), nil
	}
	_, number, err := schemas.ParseRunID(control.Run)
	return number, err
}

// controlWord takes a word on an inquiry that a person has given to the service itself.
func controlWord(d *decision, control *schemas.Control, number int, received schemas.MessageReceived) {
	var inquiry *workflow.Inquiry
	name := schemas.InquiryName{Run: number, Inquiry: control.Inquiry}
	if active := d.state.Active; active != nil && (active.Number == number || control.Inquiry > 0) {
		inquiry = active.OpenInquiry()
		if control.Inquiry > 0 {
			inquiry = active.InquiryNamed(name)
		} else if inquiry == nil {
			inquiry = cmp.Or(active.AsksUpstream(), active.Inquiry(len(active.Inquiries)))
		}
	}
	left := d.state.left().Named(name)
	if ofUpstream(d, control) && !fault.Is("whoever is upstream decides what people are asked") {
		inquiry, left = askedUpstream(d, number, control.Inquiry), nil
	}
	said := controlSays(control)
	if inquiry != nil && inquiry.Upstream && control.Run == "" {
		said.Actor.ID = cut(cmp.Or(control.By, d.state.Active.Message.Upstream.From), maxNote)
	}
	escalates := inquiry != nil && inquiry.Kind.IsAboutFailure()
	if ofRequester := inquiry != nil && inquiry.Kind.IsRestricted() && inquiry.OfRequester(); (escalates || ofRequester) && said.Choice == schemas.ChoiceAnswer {
		if !d.planDecision(d.env.Pinned).HumanTask(inquiry).ReadChoice(&said) && escalates {
			said.Choice = "" // nobody's words are a result by chance
		}
	}
	var rejection schemas.Rejection
	switch choice := said.Choice; {
	case d.env.Unconfigured, control.As != "" && !speaksFor(d, control.As, inquiry):
		rejection = schemas.WordNotAllowed
	case inquiry == nil && left != nil && (left.Word != 0 || left.Inquiry.Answered != nil):
		rejection = schemas.WordDecided
	case inquiry == nil && left != nil && !d.input.Event.Time.Before(left.Inquiry.Expires()):
		rejection = schemas.WordExpired
	case inquiry == nil && left != nil && control.Hash != "" && control.Hash != left.Inquiry.Hash:
		rejection = schemas.WordHash
	case inquiry == nil && left != nil && len(control.Arguments) > 0:
		rejection = schemas.WordEdit
	case inquiry == nil && left != nil && slices.Contains(left.Inquiry.Kind.Choices(), choice):
		received.Inquiry, received.Disposition = name.Inquiry, schemas.DispositionHeld
		d.emit(&received)
		return
	case inquiry == nil:
		rejection = schemas.WordNotAsked
	case inquiry.Answered != nil:
		rejection = overBy(inquiry)
	case inquiry.Closed == schemas.InquiryExpired || inquiry.Open() && !inTime(d, inquiry) && !fault.Is("a plan from upstream counts when its time is over"):
		rejection = schemas.WordExpired
	case !inquiry.Open():
		rejection = schemas.WordClosed
	case !inquiry.Takes(choice):
		rejection = schemas.WordChoice
	case control.Hash != "" && control.Hash != inquiry.Hash:
		rejection = schemas.WordHash
	default:
		if rejection = d.planDecision(d.env.Pinned).HumanTask(inquiry).Accepts(&said, control.Arguments); rejection == "" {
			applyWord(d, inquiry, &said, received)
			return
		}
	}
	received.Disposition, received.Reason = schemas.DispositionRefused, string(rejection)
	d.emit(&received)
}

// ofUpstream reports whether a word names a request, as whoever is upstream does: it decides nothing else than what they are asked.
func ofUpstream(d *decision, control *schemas.Control) bool {
	return control.Run == "" && d.state.Active != nil
}

// askedUpstream is what whoever is upstream is asked by a run under way: the inquiry of that number, or else the oldest that is open, or the newest; nil is nothing.
func askedUpstream(d *decision, run, number int) *workflow.Inquiry {
	active := d.state.Active
	if active.Number != run {
		return nil
	}
	if open := active.AsksUpstream(); open != nil && number == 0 {
		return open
	}
	for _, inquiry := range slices.Backward(active.Inquiries) {
		if inquiry.Upstream && (number == 0 || inquiry.Inquiry == number) {
			return inquiry
		}
	}
	return nil
}

// actorOf is who has said something to the service itself.
func actorOf(control *schemas.Control) schemas.Actor {
	if control.Via == schemas.ViaCLI {
		return schemas.Actor{Via: schemas.ViaCLI, ID: cut(control.By, maxNote), As: cut(control.As, maxNote)}
	}
	return schemas.Actor{Via: schemas.ViaAPI, ID: cut(control.By, maxNote), Proof: schemas.ProofToken}
}

// speaksFor reports whether somebody at the command line may speak for a person of the configuration: any that is known where no inquiry is meant, and
// where it is decided by people one of those who are asked and have not begun the run.
func speaksFor(d *decision, person string, inquiry *workflow.Inquiry) bool {
	switch _, known := peopleOf(d)[person]; {
	case !known:
		return false
	case inquiry == nil || len(inquiry.People) == 0 && !inquiry.Kind.IsRestricted():
		return true
	case len(inquiry.People) == 0:
		return hasBegun(d, person, "")
	}
	own := inquiry.Kind.ExcludesRequester() && hasBegun(d, person, "")
	return slices.Contains(inquiry.People, person) && !own
}

// controlSays is the word that a person has given to the service itself.
func controlSays(control *schemas.Control) plan.Word {
	said := plan.Word{Choice: schemas.ChoiceAnswer, Whole: control.Words(), Actor: actorOf(control)}
	switch control.Action {
	case schemas.ControlReject:
		said.Choice = schemas.ChoiceReject
	case schemas.ControlApprove:
		said.Choice = schemas.ChoiceApprove
	case schemas.ControlRaise:
		said.Choice, said.Amount = schemas.ChoiceRaise, control.Amount
	case schemas.ControlReplan:
		said.Choice = schemas.ChoiceReplan
	case schemas.ControlAnswer, schemas.ControlCancel, schemas.ControlResend, schemas.ControlRetry, schemas.ControlGiveUp, schemas.ControlQuarantineRetry,
		schemas.ControlQuarantineDiscard, schemas.ControlResetBreaker:
	}
	return said
}
