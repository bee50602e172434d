// Package session decides what happens next in a session, which is one thread of mail
// or chat, or one plan from outside, as a state: which message starts a run, which
// waits for its turn, which changes nothing, and what an answer, a deadline or
// a person's word does to the run under way. It is pure: everything it knows
// arrives as an argument, everything it decides leaves as facts.
//
//	Step(env, state, input) → state, facts     one decision
//	State.Apply(fact)                          the fold; a state is its facts and nothing else
//	Outputs(env, state, record) → requests     the messages that follow from a record
//
// The shell (package supervisor) stores a record for every decision that has
// facts, and re-deciding a stored one gives the same facts.
package session
