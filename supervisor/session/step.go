package session

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/plan"
)

// Env is what a decision knows besides the state and the input. None of it
// changes between two decisions with the same cause.
type Env struct {
	// Found is what was found in long messages before they are decided about; nil is nothing.
	Found *plan.Found
	Shard int
	// Epoch is that of the record in which the decision stands, or is to stand.
	Epoch uint64
	// Current is the profile in force for new runs; Pinned is that of the run
	// under way, nil when there is none.
	Current, Pinned *plan.Profile
	// Unconfigured says that no profile of the session's name is in force, so that Current is Pinned, whose people say nothing
	// any more.
	Unconfigured bool
	// Read returns what a Content that points into the ledger stands for.
	Read func(schemas.Content) schemas.Result
	// InputAt returns the message that stands at a sequence of the shard.
	InputAt func(sequence uint64) Input
	// EarlierAt returns an input that was said before the run under way, and its content; both are empty
	// when the ledger has lost it. Nil is InputAt and Read.
	EarlierAt func(sequence uint64) (Input, schemas.Result)
	// EndedRun returns a run that is over, or nil while it is being fetched.
	EndedRun func(run int) *EndedRun
	// Admission is what is known of the agents; nil is plan.Unlimited.
	Admission Admission
	// Grants gives what an output names its grants; nil gives none. Deciding needs none.
	Grants Grants
	// Rule is told for each event of an outcome, in their order, which of the rules of a run has led to it; empty is that the input has. Nil is not told.
	Rule func(name string)

	requestInputs plan.RequestInputs
}

// Grants are the rights to artifacts that outputs bring along.
type Grants interface {
	// Read lets an agent read an artifact for a request, until that expires.
	Read(agent, request, sha256 string, expires time.Time) string
	// Put says that an agent has put an artifact, and may pass it on.
	Put(agent, sha256 string) string
}

// An Outcome is what Step decided. No facts means that nothing changed, and no
// record is stored.
type Outcome struct {
	State State
	Cause schemas.Cause
	Facts schemas.Facts
	// Outputs are what does not follow from a record: all that comes of an input which
	// changes nothing, and what a transition teaches about later ones.
	Outputs []Output
	// Doubtful says that nothing changed because of what the state does not know: one
	// that has taken further records might decide otherwise. No append tells whoever
	// has an old one, so that it has to look before it goes by this outcome.
	Doubtful bool
}

// Step decides one input. The state that was passed is left as it was.
func Step(env Env, state State, input Input) Outcome {
	if input.Sequence != 0 && input.Sequence <= state.Applied {
		return Outcome{State: state}
	}
	if env.Admission == nil {
		env.Admission = unlimited{}
	}
	d := &decision{env: env, input: &input, state: state.clone(), admission: recordingAdmission{live: env.Admission}}
	d.emitter = d.emitBy
	cause := input.Cause(env.Current.Hash)
	d.state.begin(cause, state.Records+1)
	switch {
	case input.Message != nil:
		handleMessage(d, input.Message)
	case input.Response != nil:
		handleResponse(d, input.Response)
	case input.Malformed != nil:
		handleMalformed(d, input.Malformed)
	case input.Progress != nil:
		handleProgress(d, input.Progress)
	case input.Permit != nil:
		handlePermit(d, input.Permit)
	case input.Control != nil:
		handleControl(d, input.Control)
	case d.state.Active == nil: // what no message has caused is about the run under way
	case input.Deadline != nil:
		d.planDecision(env.Pinned).Expire(*input.Deadline)
	case input.Grant != nil:
		if task := d.state.Active.Task(input.Grant.Task); task != nil {
			d.granted = task.Agent
		}
		d.planDecision(env.Pinned).Grant(*input.Grant)
	case input.Absence != nil:
		d.planDecision(env.Pinned).Unserved(*input.Absence)
	}
	applyRules(d)
	beginNext(d)
	if len(d.facts) == 0 {
		return Outcome{State: state, Outputs: d.outputs, Doubtful: d.doubtful}
	}
	cause.Limits, cause.Reuses, cause.Asks, cause.Proven = d.admission.limits, d.admission.reuses, d.admission.asks, input.Proven
	cause.Settles, cause.Unconfigured = d.settles, env.Unconfigured
	// What agents are told follows from the record, and is told again when that is read again.
	reusable := slices.DeleteFunc(d.outputs, func(o Output) bool { return o.Kind != OutputReusable })
	return Outcome{State: d.state, Cause: cause, Facts: d.facts, Outputs: reusable}
}

// applyRules applies the rules to the run under way. One that has begun in this decision by another profile has had them applied.
func applyRules(d *decision) {
	if active, pinned := d.state.Active, d.env.Pinned; active != nil && pinned != nil && active.ProfileHash == pinned.Hash {
		d.planDecision(pinned).Resume()
	}
}

// Cause returns the input as a record's cause.
func (in *Input) Cause(profile string) schemas.Cause {
	return schemas.Cause{
		Sequence: in.Sequence, ID: in.Event.ID, Type: in.Event.Type,
		Deadline: in.Deadline, Grant: in.Grant, Absence: in.Absence, Malformed: in.Malformed,
		Time: in.Now, Profile: profile,
	}
}

type decision struct {
	env       Env
	input     *Input
	state     State
	admission recordingAdmission
	facts     schemas.Facts
	outputs   []Output
	doubtful  bool
	settles   string // see schemas.Cause
	retries   int    // see schemas.RunStarted
	planned   plan.Decision
	granted   string                                // the agent that the task of a grant waits for
	emitter   func(event schemas.Fact, rule string) // emitBy, made once
}

func (d *decision) emit(f schemas.Fact) { d.emitBy(f, "") }

// emitBy adds an event to the decision. The rule that has led to it is empty where the input has.
func (d *decision) emitBy(f schemas.Fact, rule string) {
	if d.facts == nil {
		d.facts = make(schemas.Facts, 0, usualFacts)
	}
	d.facts = append(d.facts, f)
	if dispatched, is := f.(*schemas.TaskDispatched); is {
		d.admission.Admit(dispatched.Agent, d.grants(dispatched))
	}
	if d.env.Rule != nil {
		d.env.Rule(rule)
	}
	d.state.Apply(f)
}

// grants reports whether the room that a task is sent with comes with the grant that is decided: at the agent that the task has waited for, and at no other.
func (d *decision) grants(dispatched *schemas.TaskDispatched) bool {
	grant := d.input.Grant
	return grant != nil && grant.Run == dispatched.Run && grant.Task == dispatched.Task && d.granted == dispatched.Agent
}

func (d *decision) output(o Output) { d.outputs = append(d.outputs, o) }

// usualFacts is how many facts most transitions have at the most.
const usualFacts = 4

// planDecision returns the decision about the run under way, which is one for all that is decided about an input.
func (d *decision) planDecision(profile *plan.Profile) *plan.Decision {
	if active := d.state.Active; active == nil || d.planned.Run != active || d.planned.Profile != profile {
		d.planned.Init(d.view(profile), d.emitter)
	}
	return &d.planned
}

// view is what a decision about the run under way knows.
func (d *decision) view(profile *plan.Profile) plan.View {
	withheld, answerFrom := withheldAnswer(d, profile)
	view := plan.View{
		Session: d.state.Session, Shard: d.env.Shard, Epoch: d.env.Epoch, Run: d.state.Active,
		Profile: profile, Now: d.input.Now, Read: d.env.Read, Admission: &d.admission,
		Withheld: withheld, AnswerFrom: answerFrom, PossibleEffects: d.state.possibleEffects(), Earlier: earlier(d, profile), People: peopleOf(d),
		Found: d.env.Found,
	}
	if active := d.state.Active; active != nil && active.LeavesAll() {
		view.Left, view.Held = d.state.leftFor(active), d.heldWord
		view.ToldBeside = func(task *workflow.Task) jsontext.Value { return toldBeside(d, profile, task) }
	}
	return view
}

// earlier are the inputs of the messages before that requests of the run under way list files of.
func earlier(d *decision, profile *plan.Profile) []uint64 {
	if active := d.state.Active; active == nil || profile == nil {
		return nil
	}
	return earlierMessages(&d.state, &profile.Context)
}

func refuseInput(d *decision, reason schemas.QuarantineReason, detail string) {
	d.output(Output{Kind: OutputQuarantine, Refusal: &Refusal{Reason: reason, Detail: detail}})
	d.doubtful = reason != schemas.QuarantineMalformed // which it is in every state
}

func (env *Env) text(body schemas.Content) string { return env.content(body).Text }

// content returns a Content's text and data, from the ledger when it points there.
func (env *Env) content(body schemas.Content) schemas.Result {
	return plan.ResolveContent(body, env.Read)
}
