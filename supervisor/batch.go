package supervisor

import (
	"podium/schemas"
	"podium/supervisor/session"
)

// A batch is what becomes one record: what waits, decided one after the other,
// each on the state after the one before it.
type batch struct {
	// inputs are the first of the session, those included that change
	// nothing; they are dealt with when the record's outputs are acknowledged.
	inputs      []*input
	transitions []schemas.Transition
	state       session.State // after the transitions
	size        int           // of the transitions in bytes; 0 while there is only one
	doubtful    bool          // some of the inputs change nothing by a state that may be old
	record      schemas.Record
	trail       *schemas.Trail // of the record
	link        schemas.Link   // of the record, as it was published
	weight      int            // of its body, in bytes
}

// What bounds a record that takes several inputs.
const (
	maxTransitions = 64
	maxBatchBytes  = 64 << 10
)

// next returns the state with which to decide the next input.
func (b *batch) next() session.State {
	if len(b.transitions) == 0 {
		return b.state
	}
	return b.state.WithinRecord()
}

// add takes an input, unless it comes to something that holds up those behind it, or the
// record is too small for it; then it waits for its turn. What is told outside waits for
// those before it: it may say what they have decided, once that is stored.
func (b *batch) add(in *input, decided *evaluation) bool {
	if decided.lacks() {
		return false
	}
	for i := range decided.Outputs {
		output := &decided.Outputs[i]
		if output.Durable() || output.ToldOutside() && (len(b.transitions) > 0 || decided.Doubtful) {
			return false
		}
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

// full reports whether nothing may follow in the same record: the outputs are
// a function of the state after the record and of its last transition alone.
func (b *batch) full() bool {
	n := len(b.transitions)
	return n >= maxTransitions || n > 0 && session.MayHaveOutputs(&b.transitions[n-1])
}
