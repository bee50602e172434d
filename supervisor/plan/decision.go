// Package plan decides what happens next inside one run: which tasks there are,
// who does them, what becomes of answers, failures and deadlines, and when the
// run is over. It is pure: no clock, no I/O, no randomness, no goroutines, no
// map iteration. The moment arrives as an argument, and everything decided
// leaves as facts.
//
// A [workflow.Run] is the fold of its facts; a [Decision] is one decision about it.
package plan

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/language"
	"podium/supervisor/route"
)

// A Decision is made about a run. Emit applies an event to the run before it returns; it is told which of the rules has led to the event.
type Decision struct {
	Session string
	Shard   int
	Epoch   uint64 // of the record that the decision stands in
	Run     *workflow.Run
	Profile *Profile
	Now     time.Time
	Emit    func(event schemas.Fact, rule string)
	// Read returns what a Content that points into the ledger stands for.
	Read      func(schemas.Content) schemas.Result
	Admission Admission
	// Withheld, unless empty, says why no answer is delivered. AnswerFrom, unless zero, is when the budget of answers has capacity again.
	Withheld   schemas.WithheldReason
	AnswerFrom time.Time
	// PossibleEffects are effects that earlier attempts of the same piece of work may have had.
	PossibleEffects []string
	// Left is what earlier attempts of the same piece of work have left; nil is nothing. Held returns the word at a sequence, as
	// what a person says to an inquiry; false when they may not say that.
	Left *workflow.Left
	Held func(sequence uint64, inquiry *workflow.Inquiry) (Word, bool)
	// ToldBeside is what the agent of a task is told of the conversation that has come with a request of somebody upstream; nil is nothing.
	ToldBeside func(task *workflow.Task) jsontext.Value
	// People are who may be asked, by name, as the profile in force says.
	People map[string]schemas.Person
	// Earlier are the inputs of the messages before, whose files requests list.
	Earlier []uint64
	// Found is what was found in long messages before they are decided about; nil is nothing.
	Found *route.Found

	tried         []string       // agents that something went to though their circuit breakers are open
	emitted       int            // events since the first rule was tried
	rule          string         // that is applied; empty is none, and events are what the input says
	spent         *schemas.Spent // by what is answered, until a fact says so; of the task spentBy
	spentBy       string
	final         bool // a person has the run end, and every further attempt begin anew
	requestInputs RequestInputs
	files         map[string]struct{} // that came with the run's messages, by hash; nil when these were not read yet
	requested     *language.Said      // what the requester has written; likewise
}

// emit applies an event to the run.
func (d *Decision) emit(event schemas.Fact) {
	d.emitted++
	d.Emit(event, d.rule)
}

// An Admission is what a decision knows of the agents. Whoever decides again gives the
// answers that stand in the record's cause.
type Admission interface {
	// Admit asks whether an agent has room for one more request, and counts it.
	Admit(agent string) AdmissionResult
	// OpenSince returns when the circuit breaker of an agent that is Unavailable has opened, and when the next request may go to it as a probe;
	// both are zero where that is not known.
	OpenSince(agent string) (since, probe time.Time)
	// GrantDecided says that the task that is granted goes on or does not: the room that its grant brings is nobody else's.
	GrantDecided()
	// LacksDay returns why the budget of the day has no room for the request to an agent that is granted; nil is that it is reserved there.
	LacksDay(agent string) *schemas.Shortage
	// Reuse returns the sequence and size of an answer that the agent gave to
	// the same input not longer ago than age (M-29).
	Reuse(agent, input string, age time.Duration) (schemas.Reuse, bool)
	// CarriesPermit reports whether a request may bring its permit along: who is handed it
	// first can tell that.
	CarriesPermit() bool
}

// AdmissionResult is whether a request may go to an agent now.
type AdmissionResult int

// The admissions.
const (
	Admitted    AdmissionResult = iota
	Full                        // it has no room
	Unavailable                 // its circuit breaker is open (M-28)
)

// Unlimited is an Admission whose agents have room for everything and no memory.
type Unlimited struct{}

// Admit implements Admission.
func (Unlimited) Admit(string) AdmissionResult { return Admitted }

// OpenSince implements Admission.
func (Unlimited) OpenSince(string) (since, probe time.Time) { return since, probe }

// GrantDecided implements Admission.
func (Unlimited) GrantDecided() {}

// LacksDay implements Admission.
func (Unlimited) LacksDay(string) *schemas.Shortage { return nil }

// Reuse implements Admission.
func (Unlimited) Reuse(string, string, time.Duration) (schemas.Reuse, bool) {
	return schemas.Reuse{}, false
}

// CarriesPermit implements Admission.
func (Unlimited) CarriesPermit() bool { return true }

func (d *Decision) content(body schemas.Content) schemas.Result { return ResolveContent(body, d.Read) }

// ResolveContent returns what a Content stands for: itself, or its part of what read returns.
func ResolveContent(body schemas.Content, read func(schemas.Content) schemas.Result) schemas.Result {
	if body.Sequence == 0 {
		return body.Result
	}
	whole := read(body)
	if end := body.Offset + body.Size; body.Offset >= 0 && body.Offset <= end && end <= len(whole.Text) {
		whole.Text = strings.ToValidUTF8(whole.Text[body.Offset:end], "") // a ledger that was tampered with can point anywhere
	}
	return whole
}

// RequestText returns what a person has said, the messages that were merged in order.
func RequestText(message *schemas.Incoming, read func(schemas.Content) schemas.Result) string {
	said := make([]string, 0, 1+len(message.MergedTexts))
	said = append(said, ResolveContent(message.Text, read).Text)
	for i := range message.MergedTexts {
		said = append(said, ResolveContent(message.MergedTexts[i], read).Text)
	}
	return strings.Join(said, "\n\n")
}
