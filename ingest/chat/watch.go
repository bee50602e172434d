package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
)

var (
	// errNoRun reports a reference that names nothing, or nothing that the reader may see.
	errNoRun = errors.New("no such run")
	// errClosing reports that the door closes.
	errClosing = errors.New("the door closes")
)

// A watch is one reader's view of a run: the session's records so far, folded.
// It is for one goroutine.
type watch struct {
	door         *Door
	ref          reference
	input        string         // id of the event that ref names, when it names a message
	channel      string         // the chat channel that the conversation came in by
	languages    map[int]string // by run
	conversation schemas.Conversation
	past         []bus.StoredRecord // what open has read of the run, without snapshots; nil unless it is kept
	last         uint64             // sequence of the newest record
	reader       bus.Reader         // of what comes after; nil until attend is called
}

// open reads what is known about a reference so far. It fails with errNoRun for
// what is not there, and alike for what the reader may not see.
// Only who shows what was, keeps it: a conversation may have thousands of runs.
func (d *Door) open(ctx context.Context, ref reference, granted access, keep bool) (*watch, error) {
	w := &watch{door: d, ref: ref, languages: make(map[int]string)}
	if ref.sequence > 0 {
		if err := w.findInput(ctx); err != nil {
			return nil, err
		}
	}
	select {
	case d.folding <- struct{}{}:
		defer func() { <-d.folding }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for record, err := range bus.LoadSession(ctx, d.core, ref.session) {
		if err == nil {
			err = w.take(&record)
		}
		if err != nil {
			return nil, err
		}
		if keep && len(w.facts(&record)) > 0 {
			w.past = append(w.past, record)
		}
	}
	w.forget()
	if !granted.opens(ref.session, w.channel) || w.input == "" && !w.knows(ref.run) {
		return nil, errNoRun
	}
	return w, nil
}

// forget drops what ended runs beside this one hold; their numbers stay.
func (w *watch) forget() {
	for i := range w.conversation.Runs {
		if run := &w.conversation.Runs[i]; run.State == schemas.RunStateEnded && run.Number != w.run() {
			w.conversation.Runs[i] = schemas.Run{Number: run.Number, State: run.State, Status: run.Status}
		}
	}
}

// findInput reads the event that a reference by sequence names. It must be a
// message of the same session: the sequence itself proves nothing.
func (w *watch) findInput(ctx context.Context) error {
	shards := w.door.core.Shards()
	stream := bus.ShardStream(schemas.ShardOf(w.ref.session, shards))
	message, err := w.door.core.Get(ctx, stream, w.ref.sequence)
	if errors.Is(err, bus.ErrNotFound) {
		return errNoRun
	}
	if err != nil {
		return fmt.Errorf("message of %s: %w", w.ref, err)
	}
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil || subject.Kind != bus.KindIn {
		return errNoRun
	}
	event, err := bus.Decode(message)
	if err != nil || schemas.SessionID(event.Profile, event.PartitionKey) != w.ref.session {
		return errNoRun
	}
	w.input, w.channel = event.ID, channelOf(&event)
	return nil
}

// take folds a record into the view and drops what nobody here needs.
func (w *watch) take(record *bus.StoredRecord) error {
	if err := w.conversation.Apply(record.Record); err != nil {
		return err
	}
	w.last = record.Sequence
	record.Snapshot = nil
	for fact := range record.AllFacts() {
		if reply := replyOf(fact); w.channel == "" && reply != nil && reply.Provider == string(KindWebhook) {
			w.channel = reply.Channel // of no other provider does a token open runs
		}
		if fact.RunStarted != nil {
			w.languages[fact.RunStarted.Run] = fact.RunStarted.Message.Language
		}
	}
	return nil
}

// replyOf returns where the answer to a message goes, if the fact holds a message.
func replyOf(fact *schemas.Fact) *schemas.Reply {
	switch {
	case fact.RunStarted != nil:
		return fact.RunStarted.Message.Reply
	case fact.MessageReceived != nil && fact.MessageReceived.Message != nil:
		return fact.MessageReceived.Message.Reply
	}
	return nil
}

// message returns what became of the message that the reference names; nil
// while that is not decided, and for a reference that names a run.
func (w *watch) message() *schemas.ReceivedMessage {
	if w.input == "" {
		return nil
	}
	return w.conversation.Message(w.input)
}

// run returns the number of the run, or 0 while there is none.
func (w *watch) run() int {
	if message := w.message(); message != nil {
		return message.Run
	}
	return w.ref.run
}

// knows reports whether a run has begun or waits for its turn.
func (w *watch) knows(run int) bool {
	for i := range w.conversation.Messages {
		if w.conversation.Messages[i].Run == run {
			return true
		}
	}
	return w.conversation.Run(run) != nil
}

// settled reports whether the outcome and the words of the answer are fixed.
func (w *watch) settled() bool {
	run := w.conversation.Run(w.run())
	return w.dropped() || run != nil && run.Status != ""
}

// ended reports whether nothing more happens.
func (w *watch) ended() bool {
	run := w.conversation.Run(w.run())
	return w.dropped() || run != nil && run.State == schemas.RunStateEnded
}

// dropped reports whether the message came to nothing.
func (w *watch) dropped() bool {
	message := w.message()
	return message != nil && message.Run == 0
}

// facts returns what a record says about the run; nothing while there is none.
func (w *watch) facts(record *bus.StoredRecord) []schemas.Fact {
	var facts []schemas.Fact
	run := w.run()
	for stored := range record.AllFacts() {
		fact := *stored
		mine := fact.MessageReceived != nil && w.input != "" && fact.MessageReceived.ID == w.input
		if !mine && (run == 0 || fact.Run() != run) {
			continue
		}
		if fact.RunSettled != nil {
			settled := *fact.RunSettled
			settled.Error = outward(settled.Error)
			fact.RunSettled = &settled
		}
		facts = append(facts, withoutReplyRef(fact))
	}
	return facts
}

// withoutReplyRef returns a fact without what is sealed for another agent.
func withoutReplyRef(fact schemas.Fact) schemas.Fact {
	reply := replyOf(&fact)
	if reply == nil || reply.ReplyRef == "" {
		return fact
	}
	open := *reply
	open.ReplyRef = ""
	if fact.RunStarted != nil {
		started := *fact.RunStarted
		started.Message.Reply = &open
		fact.RunStarted = &started
		return fact
	}
	received, message := *fact.MessageReceived, *fact.MessageReceived.Message
	message.Reply = &open
	received.Message = &message
	fact.MessageReceived = &received
	return fact
}

// outward returns an error without what is meant for the log.
func outward(failure *schemas.Error) *schemas.Error {
	if failure == nil {
		return nil
	}
	told := *failure
	told.InternalDetails = ""
	return &told
}

// attend opens the reader of what comes after.
func (w *watch) attend(ctx context.Context) error {
	if w.reader != nil {
		return nil
	}
	shards := w.door.core.Shards()
	stream := bus.ShardStream(schemas.ShardOf(w.ref.session, shards))
	reader, err := w.door.core.Read(ctx, stream, w.last+1, bus.SessionSubject(w.ref.session, shards))
	if err == nil {
		w.reader = reader
	}
	return err
}

// next waits for the session's next record. Ok is false when the timer fires first.
func (w *watch) next(ctx context.Context, timer <-chan time.Time) (record bus.StoredRecord, ok bool, err error) {
	if err := w.attend(ctx); err != nil {
		return record, false, err
	}
	for {
		message, ok, err := w.reader.Next()
		if err != nil {
			return record, false, err
		}
		if ok {
			if record, err = bus.ReadRecord(ctx, w.door.core, message); err == nil {
				err = w.take(&record)
			}
			return record, err == nil, err
		}
		select {
		case <-w.reader.Wake():
		case <-timer:
			return record, false, nil
		case <-ctx.Done():
			return record, false, context.Cause(ctx)
		case <-w.door.closing:
			return record, false, errClosing
		}
	}
}

// close releases what attend has opened.
func (w *watch) close() {
	if w.reader != nil {
		w.reader.Close()
	}
}
