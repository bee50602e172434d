package workflow

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"podium/schemas"
)

// An Excerpt is one run of a session as people read it: the fold of the records
// that speak of it. What says nothing about it may be left out, and has no part in it
// otherwise. It is the RunHistory of the SessionHistory that has all records.
type Excerpt struct {
	Session string
	// Number is the run's. When it is 0, the excerpt is about what becomes of the message
	// with the event id Input, and Number is set once a record tells it a run. If that is
	// one that another message began, it is not Known, and a new excerpt tells it.
	Number int
	Input  string

	message *ReceivedMessage
	waits   bool // a message was given the run
	late    bool // the run may have begun before a record told its number
	run     *RunHistory
	newest  uint64 // number of the newest record
	broken  error
}

// Run returns the run, or nil while it has not begun.
func (e *Excerpt) Run() *RunHistory { return e.run }

// Message returns what became of the message that the excerpt is about; nil while that
// is not known.
func (e *Excerpt) Message() *ReceivedMessage { return e.message }

// Known reports whether the run has begun or waits for its turn.
func (e *Excerpt) Known() bool { return e.waits || e.run != nil }

// Apply folds a record, which follows those before it. It fails with ErrGrammar when
// what it says about the run may not follow; then every further record fails alike.
func (e *Excerpt) Apply(record *schemas.Record) error {
	if e.broken == nil {
		e.broken = e.apply(record)
	}
	return e.broken
}

func (e *Excerpt) apply(record *schemas.Record) error {
	switch {
	case record.Session != e.Session:
		return fmt.Errorf("%w: record of session %s in session %s", ErrGrammar, record.Session, e.Session)
	case record.Number <= e.newest:
		return fmt.Errorf("%w: record %d follows record %d", ErrGrammar, record.Number, e.newest)
	}
	e.newest = record.Number
	return eachFact(record, e.fact)
}

// concerns reports whether a fact is about the run or the message.
func (e *Excerpt) concerns(fact schemas.Fact) bool {
	message, received := fact.(*schemas.MessageReceived)
	return received && e.Input != "" && message.ID == e.Input || e.Number > 0 && schemas.RunOf(fact) == e.Number
}

// Facts yields what a record that was applied says about the run and the message.
func (e *Excerpt) Facts(record *schemas.Record) iter.Seq[schemas.Fact] {
	return func(yield func(schemas.Fact) bool) {
		for fact := range record.AllFacts() {
			if e.concerns(fact) && !yield(fact) {
				return
			}
		}
	}
}

func (e *Excerpt) fact(fact schemas.Fact, now time.Time) error {
	if !e.concerns(fact) {
		return nil
	}
	switch fact := fact.(type) {
	case *schemas.MessageReceived:
		e.messageReceived(fact, now)
		return nil
	case *schemas.RunStarted:
		if e.run != nil {
			return errors.New("the run has started")
		}
		e.run = beginHistory(e.Session, fact, now)
		return nil
	default:
		if e.run == nil && e.late {
			return nil
		}
		if e.run == nil {
			return errors.New("the run has not started")
		}
		return e.run.Apply(fact, now)
	}
}

func (e *Excerpt) messageReceived(f *schemas.MessageReceived, now time.Time) {
	if e.Input != "" && f.ID == e.Input {
		message := received(f, now)
		e.message = &message
		if e.Number == 0 {
			e.Number, e.late = f.Run, !f.Begins()
		}
	}
	e.waits = e.waits || f.Begins() && f.Run == e.Number
}
