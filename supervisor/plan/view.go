package plan

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/language"
	"podium/supervisor/route"
	"podium/supervisor/say"
)

// events are what is decided, in their order.
type events = schemas.Facts

// A failureEvent is an event of a rule about failures.
type failureEvent struct {
	schemas.Fact
	rule string
}

// byFailureRule marks events as those of a rule about failures, and not of the rule that led to the failure. It changes the list that it is given.
func byFailureRule(rule string, done events) events {
	for i, event := range done {
		done[i] = failureEvent{event, rule}
	}
	return done
}

// A View is all that a decision about a run knows. No method of it changes the run. It is no snapshot: Run changes as the decision emits
// events. Use after to see what some events would lead to.
type View struct {
	Session   string
	Shard     int
	Epoch     uint64 // of the record that the decision stands in
	Run       *workflow.Run
	Profile   *Profile
	Now       time.Time
	Admission Admission
	// Read returns what a Content that points into the ledger stands for.
	Read func(schemas.Content) schemas.Result
	// Withheld, unless empty, says why no answer is delivered. AnswerFrom, unless zero, is when the budget of answers has capacity again.
	Withheld   schemas.WithheldReason
	AnswerFrom time.Time
	// PossibleEffects are effects that earlier attempts of the same piece of work may have had.
	PossibleEffects []string
	// Left is what earlier attempts of the same piece of work have left; nil is nothing. Held returns the word at a sequence, as
	// what a person says to an inquiry of the run; false when they may not say that.
	Left *workflow.Left
	Held func(run *workflow.Run, sequence uint64, inquiry *workflow.Inquiry) (Word, bool)
	// ToldBeside is what the agent of a task is told of the conversation that has come with a request of somebody upstream; nil is nothing.
	ToldBeside func(task *workflow.Task) jsontext.Value
	// People are who may be asked, by name, as the profile in force says.
	People map[string]schemas.Person
	// Earlier are the inputs of the messages before, whose files requests list.
	Earlier []uint64
	// Found is what was found in long messages before they are decided about; nil is nothing.
	Found *route.Found

	final bool     // a person ends the run, and each further attempt begins anew
	ahead []string // agents that events send tasks to which are not applied yet: see after
	memo  *memo
}

// A memo is what was read once for a decision.
type memo struct {
	requestInputs RequestInputs
	files         map[string]struct{} // that came with the run's messages, by hash; nil when these were not read yet
	requested     *language.Said      // what the requester has written; likewise
}

// Agents are asked what is known of the agents. Whoever decides again gives the answers that stand in the record's cause.
type Agents interface {
	// Room returns whether an agent has room for one more task, beside those that the decision has sent it and so many more.
	Room(agent string, more int) AdmissionResult
	// Granted returns whether the agent of a granted task still does it. The room for it comes with the grant.
	Granted(agent string) AdmissionResult
	// OpenSince returns when the circuit breaker of an agent that is Unavailable has opened, and when the next request may go to it as a probe;
	// both are zero where that is not known.
	OpenSince(agent string) (since, probe time.Time)
	// LacksDay returns what the budget of the day lacks for the granted task of an agent; nil if it is reserved there.
	LacksDay(agent string) *schemas.Shortage
	// Reuse returns the sequence and size of an answer that the agent gave to
	// the same input not longer ago than age (M-29).
	Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool)
	// CarriesPermit reports whether a request may bring its permit along, because the server tells who is handed it first.
	CarriesPermit() bool
}

// An Admission is what a decision knows of the agents, and of what it has sent them.
type Admission interface {
	Agents
	// Sent reports whether the decision has sent an agent a task.
	Sent(agent string) bool
}

// known is what was read for the decision; a view of no decision has read nothing.
func (v *View) known() *memo {
	if v.memo == nil {
		return &memo{}
	}
	return v.memo
}

func (v *View) content(body schemas.Content) schemas.Result { return ResolveContent(body, v.Read) }

// language has the words of the requester's language.
func (v *View) language() *schemas.Language { return v.Profile.language(v.Run.Message.Language) }

// sentence returns a sentence of package say in the requester's language.
func (v *View) sentence(key string, places ...string) string {
	return say.Sentence(v.language(), key, places...)
}

func (v *View) texts() *schemas.Texts { return v.Profile.TextsIn(v.Run.Message.Language) }

// room returns whether a task may go to an agent now.
func (v *View) room(agent string) AdmissionResult {
	more := 0
	for _, other := range v.ahead {
		if other == agent {
			more++
		}
	}
	return v.Admission.Room(agent, more)
}

// sentTo reports whether the decision sends a task to an agent.
func (v *View) sentTo(agent string) bool {
	return v.Admission.Sent(agent) || slices.Contains(v.ahead, agent)
}

// after returns the view once events have been applied. The run that v looks at is left as it is.
func (v *View) after(done events) *View {
	if len(done) == 0 {
		return v
	}
	next := *v
	next.Run, next.ahead = v.Run.Clone(), slices.Clip(v.ahead)
	for _, event := range done {
		if of, is := event.(failureEvent); is {
			event = of.Fact
		}
		next.Run.Apply(event, v.Now)
		if dispatched, is := event.(*schemas.TaskDispatched); is {
			next.ahead = append(next.ahead, dispatched.Agent)
		}
	}
	return &next
}
