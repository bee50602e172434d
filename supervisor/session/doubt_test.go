package session_test

import (
	"bytes"

	"podium/schemas"
	"podium/supervisor/session"
)

// formerStates is how many states back a session may be remembered.
const formerStates = 6

// doubts: whatever passes an input by by an old state, and does not doubt that, loses
// nothing that has become of the session since. That an answer came late is no
// loss, nor is how far a task is, which the next sign of life says again.
func (s *stage) doubts(tb judge, input session.Input, outcome *session.Outcome) {
	tb.Helper()
	if input.Sequence == 0 {
		return
	}
	for i := range s.formers {
		former := &s.formers[i]
		old := session.Step(s.env(former), *former, input)
		if len(old.Facts) > 0 || old.Doubtful {
			continue
		}
		for i := range outcome.Facts {
			if f := outcome.Facts[i]; schemas.As[*schemas.TaskProgressed](f) == nil && schemas.As[*schemas.TaskHeartbeat](f) == nil && schemas.As[*schemas.ResponseLate](f) == nil {
				tb.Fatalf("%d records before nothing would come of input %d, without a doubt, and now it is %s",
					s.state.Records-former.Records, input.Sequence, canonical(tb, outcome.Facts))
			}
		}
		for _, kind := range []session.OutputKind{session.OutputQuarantine, session.OutputPermitAnswer, session.OutputRepeatedResponse} {
			if kind == session.OutputQuarantine && input.Sequence <= s.state.Applied {
				continue // it has been decided, and what is in quarantine is there once, by its id
			}
			then, now := outputOf(&old, kind), outputOf(outcome, kind)
			if (then != nil || kind == session.OutputRepeatedResponse) && !bytes.Equal(canonical(tb, then), canonical(tb, now)) {
				tb.Fatalf("%d records before, input %d is otherwise decided without a doubt: %s, and not %s",
					s.state.Records-former.Records, input.Sequence, canonical(tb, then), canonical(tb, now))
			}
		}
	}
}

// outputOf returns the output of that kind, or nil.
func outputOf(outcome *session.Outcome, kind session.OutputKind) *session.Output {
	for i := range outcome.Outputs {
		if outcome.Outputs[i].Kind == kind {
			return &outcome.Outputs[i]
		}
	}
	return nil
}

// remember keeps the state for what becomes of the session to be held against it.
func (s *stage) remember() {
	s.formers = append(s.formers, s.state)
	s.formers = s.formers[max(len(s.formers)-formerStates, 0):]
}
