package session

import (
	"strings"

	"podium/schemas"
	"podium/supervisor/plan"
)

// Env is what a decision knows besides the state and the input. None of it
// changes between two decisions with the same cause.
type Env struct {
	Shard int
	// Current is the profile in force for new runs; Pinned is that of the run
	// under way, nil when there is none.
	Current, Pinned *plan.Profile
	// Read returns what a Body that points into the ledger stands for.
	Read func(schemas.Body) schemas.Result
}

// An Outcome is what Step decided. No facts means that nothing changed, and no
// record is stored.
type Outcome struct {
	State   State
	Facts   []schemas.Fact
	Refusal *Refusal
}

// A Refusal says that the input belongs in quarantine.
type Refusal struct {
	Reason schemas.QuarantineReason
	Detail string
}

// Step decides one input. The state that was passed is left as it was.
func Step(env Env, state State, input Input) Outcome {
	if input.Sequence != 0 && input.Sequence <= state.Applied {
		return Outcome{State: state}
	}
	d := &decision{env: env, input: &input, state: state.clone()}
	d.state.begin(input.Cause(env.Current.Hash), state.Records+1)
	switch {
	case input.Message != nil:
		d.message(input.Message)
	case input.Response != nil:
		d.response(input.Response)
	case input.Progress != nil:
		d.progress(input.Progress)
	case input.Control != nil:
		d.control(input.Control)
	case input.Deadline != nil:
		d.deadline(*input.Deadline)
	}
	d.next()
	if len(d.facts) == 0 {
		return Outcome{State: state, Refusal: d.refusal}
	}
	return Outcome{State: d.state, Facts: d.facts}
}

// Cause returns the input as a record's cause.
func (in *Input) Cause(profile string) schemas.Cause {
	return schemas.Cause{
		Sequence: in.Sequence, ID: in.Event.ID, Type: in.Event.Type,
		Deadline: in.Deadline, Time: in.Now, Profile: profile,
	}
}

type decision struct {
	env     Env
	input   *Input
	state   State
	facts   []schemas.Fact
	refusal *Refusal
}

func (d *decision) emit(f schemas.Fact) {
	d.state.Apply(&f)
	d.facts = append(d.facts, f)
}

func (d *decision) turn(profile *plan.Profile) *plan.Turn {
	return &plan.Turn{
		Session: d.state.Session, Shard: d.env.Shard, Run: d.state.Active,
		Profile: profile, Now: d.input.Now, Emit: d.emit,
	}
}

func (d *decision) refuse(reason schemas.QuarantineReason, detail string) {
	d.refusal = &Refusal{Reason: reason, Detail: detail}
}

func (d *decision) message(message *Message) {
	id := d.input.Event.ID
	if d.state.Has(id) {
		return
	}
	received := schemas.MessageReceived{ID: id, Sequence: d.input.Sequence}
	if message.Ignore != "" {
		received.Disposition, received.Reason = schemas.DispositionIgnored, message.Ignore
		d.emit(schemas.Fact{MessageReceived: &received})
		return
	}
	received.Run = d.state.Runs + 1
	incoming := schemas.Incoming{
		Sequence: d.input.Sequence, ID: id, Channel: message.Channel, Subject: message.Subject,
		Words:    hold(schemas.Result{Text: message.Words}, d.input.Sequence),
		Language: d.env.Current.LanguageFor(message.Words, message.Language),
		Reply:    message.Reply,
	}
	if !d.state.Idle() {
		incoming.Words = refer(schemas.Result{Text: message.Words}, d.input.Sequence) // a long queue is small
		received.Disposition, received.Message = schemas.DispositionQueued, &incoming
		d.emit(schemas.Fact{MessageReceived: &received})
		return
	}
	received.Disposition = schemas.DispositionStarted
	d.emit(schemas.Fact{MessageReceived: &received})
	d.start(received.Run, incoming).Begin(message.Words)
}

func (d *decision) start(run int, message schemas.Incoming) *plan.Turn {
	d.emit(schemas.Fact{RunStarted: &schemas.RunStarted{
		Run: run, Profile: d.env.Current.Name, ProfileHash: d.env.Current.Hash, Message: message,
	}})
	return d.turn(d.env.Current)
}

// next starts what waited, once the run before it has ended (G-33).
func (d *decision) next() {
	for d.state.Active == nil && len(d.state.Queue) > 0 {
		head := d.state.Queue[0]
		text := d.env.text(head.Message.Words)
		head.Message.Words = hold(schemas.Result{Text: text}, head.Message.Sequence)
		turn := d.start(head.Run, head.Message)
		if head.Cancelled {
			turn.Cancel()
			continue
		}
		turn.Begin(text)
	}
}

func (d *decision) control(control *schemas.Control) {
	id := d.input.Event.ID
	if control.Action != schemas.ControlCancel || d.state.Has(id) {
		return
	}
	_, number, err := schemas.ParseRunID(control.Run)
	if err != nil {
		d.refuse(schemas.QuarantineUnknownRun, err.Error())
		return
	}
	received := schemas.MessageReceived{ID: id, Sequence: d.input.Sequence, Run: number, Disposition: schemas.DispositionControl}
	switch {
	case number > d.state.Runs:
		d.refuse(schemas.QuarantineUnknownRun, "the session has no run of that number")
	case d.state.Active != nil && d.state.Active.Number == number && d.state.Active.Phase != plan.PhaseAssembling:
		d.emit(schemas.Fact{MessageReceived: &received})
		d.turn(d.env.Pinned).Cancel()
	case d.queued(number):
		d.emit(schemas.Fact{MessageReceived: &received})
	default:
		received.Disposition, received.Reason = schemas.DispositionRefused, "already_settled"
		d.emit(schemas.Fact{MessageReceived: &received})
	}
}

func (d *decision) queued(run int) bool {
	for i := range d.state.Queue {
		if d.state.Queue[i].Run == run {
			return true
		}
	}
	return false
}

func (d *decision) deadline(deadline schemas.Deadline) {
	if d.state.Active != nil {
		d.turn(d.env.Pinned).Expire(deadline)
	}
}

func (env *Env) text(body schemas.Body) string {
	return env.content(body).Text
}

// content returns a Body's text and data, from the ledger when it points there.
func (env *Env) content(body schemas.Body) schemas.Result {
	if body.Sequence == 0 {
		return body.Result
	}
	whole := env.Read(body)
	if end := body.Offset + body.Size; end <= len(whole.Text) {
		whole.Text = strings.ToValidUTF8(whole.Text[body.Offset:end], "") // a ledger that was tampered with can point anywhere
	}
	return whole
}
