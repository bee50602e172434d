package supervisor

import (
	"context"
	"time"

	"podium/schemas"
	"podium/supervisor/plan"
	"podium/supervisor/session"
)

// A batch is what becomes one record: what waits, decided one after the other,
// each on the state after the one before it.
type batch struct {
	// inputs are the first of the conversation, those included that change
	// nothing; they are dealt with when the record's outputs are acknowledged.
	inputs      []*input
	transitions []schemas.Transition
	state       session.State // after the transitions
	size        int           // of the transitions in bytes; 0 while there is only one
	doubtful    bool          // some of the inputs change nothing by a state that may be old
	record      schemas.Record
	trail       *schemas.Trail // of the record
	body        []byte         // of the record, as it was published
}

// What bounds a record that takes several inputs.
const (
	maxTransitions = 64
	maxBatchBytes  = 64 << 10
)

// A judgement is what became of one input, or what has to be fetched first.
type judgement struct {
	session.Outcome
	profile string   // hash of the profile that is missing
	inputs  []uint64 // sequences of the inputs that are missing
	formers []int    // numbers of the runs that are missing
}

func (j *judgement) lacks() bool { return j.profile != "" || len(j.inputs) > 0 || len(j.formers) > 0 }

// judge runs one input through the machine. The state is the conversation's, or
// the one after a transition that is not stored yet.
func (o *Owner) judge(c *conversation, state session.State, read session.Input) (j judgement) {
	env := o.env(c, &j.inputs)
	env.Bus, env.Former = o.admission.Decision(&c.admission, &read), o.former(c, &j.formers)
	if state.Active != nil {
		if env.Pinned = o.Profiles.Pinned(state.Active.ProfileHash); env.Pinned == nil {
			j.profile = state.Active.ProfileHash
			return j
		}
	}
	name := state.Profile
	if read.Message != nil {
		name = read.Event.Profile
	}
	if env.Current = o.Profiles.Current(name); env.Current == nil {
		env.Current = env.Pinned
	}
	if env.Current == nil {
		env.Current = &plan.Profile{}
	}
	j.Outcome = session.Step(env, state, read)
	return j
}

// decide runs the inputs that wait through the machine, in order, and appends one
// record of as many as it can hold.
func (o *Owner) decide(ctx context.Context, c *conversation, now time.Time) {
	b := &batch{state: c.state}
	var last judgement
	for _, in := range c.inputs {
		if in.event.Artifact != nil || in.foreign {
			break
		}
		if in.broken() || o.overtaken(c, in) {
			break
		}
		in.read.Now = now
		last = o.judge(c, b.next(), in.read)
		last.Doubtful = last.Doubtful && !last.lacks() && !c.confirmed(in.message.Sequence)
		b.doubtful = b.doubtful || last.Doubtful
		if !b.add(in, &last) {
			o.admission.Release(&c.admission) // what it was admitted to; those before it have sent nothing
			break
		}
		o.admission.Learn(&last.Outcome, now)
		o.reportUnproven(c, in, last.Facts)
		if last.Permitted != nil {
			o.tell(in.agent, last.Permitted)
		}
		if last.Unwanted != "" {
			o.hint(in.agent, last.Unwanted)
		}
		if b.full() || c.alone {
			break
		}
	}
	switch {
	case len(b.transitions) > 0:
		o.append(ctx, c, b)
	case b.doubtful:
		o.admission.Release(&c.admission)
		o.begin(c)
		o.confirm(ctx, c)
	case len(b.inputs) > 0:
		o.admission.Release(&c.admission)
		o.leave(c, b.inputs)
		o.push(c)
	case last.lacks():
		o.supply(ctx, c, &last)
	case last.Repeated > 0:
		o.answerAgain(ctx, c, c.inputs[0], last.Repeated)
	default:
		o.refuse(ctx, c, c.inputs[0], last.Refusal)
	}
}

// prompt decides what no message has caused: a deadline that has passed, or a grant.
func (o *Owner) prompt(ctx context.Context, c *conversation, read session.Input) {
	decided := o.judge(c, c.state, read)
	if len(decided.Facts) > 0 && !decided.lacks() {
		o.admission.Learn(&decided.Outcome, read.Now)
		o.append(ctx, c, &batch{transitions: []schemas.Transition{{Cause: decided.Cause, Facts: decided.Facts}}, state: decided.State})
		return
	}
	o.admission.Release(&c.admission)
	if decided.lacks() {
		o.supply(ctx, c, &decided)
		return
	}
	if read.Grant != nil {
		o.admission.EndGrant(&c.admission)
	}
	o.push(c)
}

// supply fetches what a decision lacks; then it is made anew.
func (o *Owner) supply(ctx context.Context, c *conversation, lacking *judgement) {
	if lacking.profile != "" {
		o.fetchProfile(ctx, c, lacking.profile)
		return
	}
	if len(lacking.formers) > 0 {
		o.fetchFormer(ctx, c, lacking.formers[0])
		return
	}
	o.fetch(ctx, c, lacking.inputs)
}

// next returns the state with which to decide the next input.
func (b *batch) next() session.State {
	if len(b.transitions) == 0 {
		return b.state
	}
	return b.state.Within()
}

// add takes an input, unless something else has to be done about it or the record
// is too small for it; then it waits for its turn.
func (b *batch) add(in *input, decided *judgement) bool {
	if decided.lacks() || decided.Refusal != nil || decided.Repeated > 0 {
		return false
	}
	if decided.Permitted != nil && (len(b.transitions) > 0 || decided.Doubtful) {
		return false // it may say what those before it have decided, once that is stored
	}
	if len(decided.Facts) > 0 {
		transition := schemas.Transition{Cause: decided.Cause, Facts: decided.Facts}
		if !b.fits(&transition) {
			return false
		}
		b.transitions, b.state = append(b.transitions, transition), decided.State
	}
	b.inputs = append(b.inputs, in)
	return true
}

// fits reports whether one more transition has room, and counts it if so. A
// transition that cannot be written has none: it fails alone.
func (b *batch) fits(transition *schemas.Transition) bool {
	if len(b.transitions) == 0 {
		return true
	}
	size, err := sizeOf(transition)
	if b.size == 0 && err == nil {
		b.size, err = sizeOf(&b.transitions[0])
	}
	if err != nil || b.size+size > maxBatchBytes {
		return false
	}
	b.size += size
	return true
}

func sizeOf(transition *schemas.Transition) (int, error) {
	body, err := schemas.Marshal(transition)
	return len(body), err
}

// full reports whether nothing may follow in the same record: what is owed is a
// function of the state after the record and of its last transition alone.
func (b *batch) full() bool {
	n := len(b.transitions)
	return n >= maxTransitions || n > 0 && session.Owes(b.transitions[n-1].Facts)
}
