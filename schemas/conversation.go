package schemas

import (
	"errors"
	"fmt"
	"time"
)

// DeliveryTask is the id of the task that delivers a run's answer. It is not
// part of the plan.
const DeliveryTask = "reply"

// ErrGrammar reports a record or a fact that may not follow what stands before
// it. The ledger holds no such record unless it was tampered with or written by
// a newer version.
var ErrGrammar = errors.New("against the grammar of sessions")

// A Conversation is a session as people read it: the fold of its records. It
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
type Conversation struct {
	Session  string            `json:"session"`
	Records  uint64            `json:"records"` // number of the newest record
	Runs     []Run             `json:"runs"`
	Messages []ReceivedMessage `json:"messages"`

	broken error
	known  map[string]int // indexes of Messages by id, of as many as Apply has seen
}

// A ReceivedMessage is what became of an incoming message.
type ReceivedMessage struct {
	ID          string      `json:"id"` // of the event
	Sequence    uint64      `json:"sequence"`
	Received    time.Time   `json:"received"` // when the session took it
	Run         int         `json:"run,omitzero"`
	Disposition Disposition `json:"disposition"`
	Reason      string      `json:"reason,omitzero"`
}

// Run returns the n-th run, or nil.
func (c *Conversation) Run(n int) *Run {
	if n < 1 || n > len(c.Runs) {
		return nil
	}
	return &c.Runs[n-1]
}

// Message returns the message with that event id, or nil.
func (c *Conversation) Message(id string) *ReceivedMessage {
	if c.known == nil {
		c.known = make(map[string]int, len(c.Messages))
	}
	for i := len(c.known); i < len(c.Messages); i++ { // each id is there once
		c.known[c.Messages[i].ID] = i
	}
	if i, ok := c.known[id]; ok {
		return &c.Messages[i]
	}
	return nil
}

// Apply folds the next record. It fails with ErrGrammar when the record may not
// follow; then the conversation holds what stood before the offending fact, and
// every further record fails alike.
func (c *Conversation) Apply(record Record) error {
	if c.broken == nil {
		c.broken = c.apply(&record)
	}
	return c.broken
}

func (c *Conversation) apply(record *Record) error {
	switch {
	case c.Session == "" && c.Records == 0:
		c.Session = record.Session
	case record.Session != c.Session:
		return fmt.Errorf("%w: record of session %s in session %s", ErrGrammar, record.Session, c.Session)
	}
	if record.Number != c.Records+1 {
		return fmt.Errorf("%w: record %d follows record %d", ErrGrammar, record.Number, c.Records)
	}
	number := 0
	for i := range record.Transitions {
		transition := &record.Transitions[i]
		for i := range transition.Facts {
			number++
			fact := transition.Facts[i]
			if err := c.fact(fact, transition.Cause.Time); err != nil {
				return ungrammatical(record, number, fact, err)
			}
		}
	}
	c.Records = record.Number
	return nil
}

func ungrammatical(record *Record, number int, fact Fact, err error) error {
	return fmt.Errorf("%w: record %d: fact %d, %s of run %d: %w",
		ErrGrammar, record.Number, number, fact.Name(), RunOf(fact), err)
}

func (c *Conversation) fact(fact Fact, now time.Time) error {
	switch fact := fact.(type) {
	case *MessageReceived:
		return c.messageReceived(fact, now)
	case *RunStarted:
		return c.runStarted(fact, now)
	default:
	}
	run := c.Run(RunOf(fact))
	if run == nil {
		return errors.New("the run has not started")
	}
	return run.take(fact, now)
}

func (c *Conversation) messageReceived(f *MessageReceived, now time.Time) error {
	if known := c.Message(f.ID); known != nil {
		return fmt.Errorf("the message was %s already", known.Disposition)
	}
	given := c.given()
	switch f.Disposition {
	case DispositionStarted, DispositionQueued:
		if f.Run != given+1 {
			return fmt.Errorf("the next run is run %d", given+1)
		}
	case DispositionControl, DispositionMerged:
		if f.Run < 1 || f.Run > given {
			return fmt.Errorf("no message was given run %d", f.Run)
		}
	case DispositionIgnored, DispositionRefused:
	}
	c.Messages = append(c.Messages, received(f, now))
	return nil
}

func received(f *MessageReceived, now time.Time) ReceivedMessage {
	return ReceivedMessage{ID: f.ID, Sequence: f.Sequence, Received: now, Run: f.Run, Disposition: f.Disposition, Reason: f.Reason}
}

// given returns the newest run number that a message was given.
func (c *Conversation) given() int {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if message := &c.Messages[i]; message.begins() {
			return message.Run
		}
	}
	return 0
}

func (m *ReceivedMessage) begins() bool {
	return m.Disposition == DispositionStarted || m.Disposition == DispositionQueued
}

func (c *Conversation) runStarted(f *RunStarted, now time.Time) error {
	if f.Run != len(c.Runs)+1 {
		return fmt.Errorf("it follows run %d", len(c.Runs))
	}
	if message := c.Message(f.Message.ID); message == nil || !message.begins() || message.Run != f.Run {
		return errors.New("its message was not given that run")
	}
	c.Runs = append(c.Runs, newRun(c.Session, f, now))
	return nil
}

func newRun(session string, f *RunStarted, now time.Time) Run {
	run := Run{
		ID: RunID(session, f.Run), Session: session, Number: f.Run,
		Profile: f.Profile, ProfileHash: f.ProfileHash,
		Channel: f.Message.Channel, Message: f.Message.ID, Input: f.Message.Sequence, Subject: f.Message.Subject, Language: f.Message.Language,
		State: RunStatePlanning, Started: now, Request: f.Message.Text.Text,
		Tasks: []RunTask{}, Decisions: []TaskDecision{},
	}
	run.Expires, run.Entities, run.Upstream = f.Expires, f.Entities, f.Message.Upstream
	if f.Message.Text.Sequence != 0 {
		words := f.Message.Text
		run.Words = &words
	}
	return run
}
