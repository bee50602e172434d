package workflow

import (
	"errors"
	"fmt"
	"time"

	"podium/schemas"
)

// A SessionHistory is a session as people read it: the fold of its records. It
// decides nothing; it knows only which fact may follow which.
//
// The grammar: records are numbered without gaps. A message has one disposition
// and, when it is started or queued, the next run number; runs begin in the
// order of their numbers, each with its message. In a run: at most one complexity,
// one plan; a task is routed before it is dispatched, dispatched after all that
// it depends on has ended, said to be unserved while it waits, started once and completed or failed once per
// attempt; attempts are numbered without gaps. An effect is permitted to the
// attempt under way, and once, unless the agent has said that the attempt which
// was permitted failed, or the fact says that it is again; a permit may be refused
// at any time. When the run is settled no task is under way and only the delivery
// follows, or that there is none; after its end only late answers and reports on
// the delivery do, or that the answer is to be sent again: then, as soon as no other
// run is under way, the delivery is reopened, with attempts that go on counting.
type SessionHistory struct {
	Session  string            `json:"session"`
	Records  uint64            `json:"records"` // number of the newest record
	Runs     []RunHistory      `json:"runs"`
	Messages []ReceivedMessage `json:"messages"`

	broken error
	known  map[string]int // indexes of Messages by id, of as many as Apply has seen
}

// A ReceivedMessage is what became of an incoming message.
type ReceivedMessage struct {
	ID          string              `json:"id"` // of the event
	Sequence    uint64              `json:"sequence"`
	Received    time.Time           `json:"received"` // when the session took it
	Run         int                 `json:"run,omitzero"`
	Disposition schemas.Disposition `json:"disposition"`
	Reason      string              `json:"reason,omitzero"`
}

// Run returns the n-th run, or nil.
func (h *SessionHistory) Run(n int) *RunHistory {
	if n < 1 || n > len(h.Runs) {
		return nil
	}
	return &h.Runs[n-1]
}

// Message returns the message with that event id, or nil.
func (h *SessionHistory) Message(id string) *ReceivedMessage {
	if h.known == nil {
		h.known = make(map[string]int, len(h.Messages))
	}
	for i := len(h.known); i < len(h.Messages); i++ { // each id is there once
		h.known[h.Messages[i].ID] = i
	}
	if i, ok := h.known[id]; ok {
		return &h.Messages[i]
	}
	return nil
}

// Apply folds the next record. It fails with ErrGrammar when the record may not
// follow; then the history holds what stood before the offending fact, and
// every further record fails alike.
func (h *SessionHistory) Apply(record schemas.Record) error {
	if h.broken == nil {
		h.broken = h.apply(&record)
	}
	return h.broken
}

func (h *SessionHistory) apply(record *schemas.Record) error {
	switch {
	case h.Session == "" && h.Records == 0:
		h.Session = record.Session
	case record.Session != h.Session:
		return fmt.Errorf("%w: record of session %s in session %s", ErrGrammar, record.Session, h.Session)
	}
	if record.Number != h.Records+1 {
		return fmt.Errorf("%w: record %d follows record %d", ErrGrammar, record.Number, h.Records)
	}
	if err := eachFact(record, h.fact); err != nil {
		return err
	}
	h.Records = record.Number
	return nil
}

// eachFact gives apply the facts of a record in their order, each with the time at which it was
// decided, up to the first that may not follow.
func eachFact(record *schemas.Record, apply func(schemas.Fact, time.Time) error) error {
	number := 0
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for _, fact := range transition.Facts {
			number++
			if err := apply(fact, transition.Cause.Time); err != nil {
				return fmt.Errorf("%w: record %d: fact %d, %s of run %d: %w",
					ErrGrammar, record.Number, number, fact.Name(), schemas.RunOf(fact), err)
			}
		}
	}
	return nil
}

func (h *SessionHistory) fact(fact schemas.Fact, now time.Time) error {
	switch fact := fact.(type) {
	case *schemas.MessageReceived:
		return h.messageReceived(fact, now)
	case *schemas.RunStarted:
		return h.runStarted(fact, now)
	default:
	}
	run := h.Run(schemas.RunOf(fact))
	if run == nil {
		return errors.New("the run has not started")
	}
	return run.Apply(fact, now)
}

func (h *SessionHistory) messageReceived(f *schemas.MessageReceived, now time.Time) error {
	if known := h.Message(f.ID); known != nil {
		return fmt.Errorf("the message was %s already", known.Disposition)
	}
	given := h.given()
	switch f.Disposition {
	case schemas.DispositionStarted, schemas.DispositionQueued:
		if f.Run != given+1 {
			return fmt.Errorf("the next run is run %d", given+1)
		}
	case schemas.DispositionControl, schemas.DispositionMerged, schemas.DispositionAnswered, schemas.DispositionHeld:
		if f.Run < 1 || f.Run > given {
			return fmt.Errorf("no message was given run %d", f.Run)
		}
	case schemas.DispositionIgnored, schemas.DispositionRefused:
	}
	h.Messages = append(h.Messages, received(f, now))
	return nil
}

func received(f *schemas.MessageReceived, now time.Time) ReceivedMessage {
	return ReceivedMessage{ID: f.ID, Sequence: f.Sequence, Received: now, Run: f.Run, Disposition: f.Disposition, Reason: f.Reason}
}

// given returns the newest run number that a message was given.
func (h *SessionHistory) given() int {
	for i := len(h.Messages) - 1; i >= 0; i-- {
		if message := &h.Messages[i]; message.begins() {
			return message.Run
		}
	}
	return 0
}

func (m *ReceivedMessage) begins() bool {
	return m.Disposition == schemas.DispositionStarted || m.Disposition == schemas.DispositionQueued
}

func (h *SessionHistory) runStarted(f *schemas.RunStarted, now time.Time) error {
	if f.Run != len(h.Runs)+1 {
		return fmt.Errorf("it follows run %d", len(h.Runs))
	}
	if f.Retries < 0 || f.Retries >= f.Run {
		return fmt.Errorf("it retries run %d", f.Retries)
	}
	if message := h.Message(f.Message.ID); message == nil || !message.begins() || message.Run != f.Run {
		return errors.New("its message was not given that run")
	}
	h.Runs = append(h.Runs, *beginHistory(h.Session, f, now))
	return nil
}
