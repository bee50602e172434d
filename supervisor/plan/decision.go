// Package plan decides what happens next inside one run: which tasks there are,
// who does them, what becomes of answers, failures and deadlines, and when the
// run is over. It is pure: no clock, no I/O, no randomness, no goroutines, no
// map iteration. The moment arrives as an argument, and everything decided
// leaves as events.
//
// A [workflow.Run] is the fold of its events; a [Decision] is one decision about it.
package plan

import (
	"strings"
	"time"

	"podium/schemas"
)

// A Decision is made about a run: it looks at the run by its View, and changes it by events.
type Decision struct {
	View
	// Emit applies an event to the run before it returns. It is told which of the rules has led to the event.
	Emit func(event schemas.Fact, rule string)

	memo    memo
	emitted int            // events since the first rule was tried
	rule    string         // that is applied; empty is none, and events are what the input says
	spent   *schemas.Spent // by what is answered, until an event says so; of the task spentBy
	spentBy string
}

// NewDecision returns a decision about the run of a view.
func NewDecision(view View, emit func(event schemas.Fact, rule string)) *Decision {
	d := &Decision{}
	d.Init(view, emit)
	return d
}

// Init makes d a decision about the run of a view.
func (d *Decision) Init(view View, emit func(event schemas.Fact, rule string)) {
	*d = Decision{View: view, Emit: emit}
	d.View.memo = &d.memo
}

// emit applies an event to the run, as that of the rule which has led to it.
func (d *Decision) emit(event schemas.Fact) {
	rule := d.rule
	if of, is := event.(failureEvent); is {
		event, rule = of.Fact, of.rule
	}
	d.emitted++
	d.Emit(event, rule)
}

// apply applies events to the run, in their order.
func (d *Decision) apply(done events) {
	for _, event := range done {
		d.emit(event)
	}
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

// Room implements Admission.
func (Unlimited) Room(string, int) AdmissionResult { return Admitted }

// Sent implements Admission.
func (Unlimited) Sent(string) bool { return false }

// Granted implements Admission.
func (Unlimited) Granted(string) AdmissionResult { return Admitted }

// OpenSince implements Admission.
func (Unlimited) OpenSince(string) (since, probe time.Time) { return since, probe }

// LacksDay implements Admission.
func (Unlimited) LacksDay(string) *schemas.Shortage { return nil }

// Reuse implements Admission.
func (Unlimited) Reuse(string, string, time.Duration) (schemas.Reuse, bool) {
	return schemas.Reuse{}, false
}

// CarriesPermit implements Admission.
func (Unlimited) CarriesPermit() bool { return true }

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
