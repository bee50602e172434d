package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/binding"
	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

var (
	// errNoRun reports a reference that names nothing, or nothing that the reader may see.
	errNoRun = errors.New("no such run")
	// ErrClosing reports that the adapter closes.
	ErrClosing = errors.New("the adapter closes")
)

// doubtAfter is how long nobody may have decided a message until it is looked for by its
// id alone: it came before, under another sequence, or waits.
const doubtAfter = time.Second

// A Watch is one reader's view of a run: what was said of it so far, folded. It is for
// one goroutine.
type Watch struct {
	api      *API
	ref      reference
	input    string // id of the event that ref names, when it names a message
	word     bool   // that is a word on an inquiry, and ref.run the run that it is about
	channel  string // the chat channel that the run came in by
	language string // of the run
	excerpt  workflow.Excerpt
	keep     bool                   // what was is handed out too
	past     []history.StoredRecord // the part of it that is still to be, without snapshots
	last     uint64                 // sequence of the newest record
	reader   bus.Reader             // of what comes after; nil until attend is called
	doubt    <-chan time.Time       // fires doubtAfter a message was found undecided
}

// open reads what is known about a reference so far. It fails with errNoRun for
// what is not there, and alike for what the reader may not see. Who wants to keep
// what was has it by next.
func (a *API) open(ctx context.Context, ref reference, granted access, keep bool) (*Watch, error) {
	w := &Watch{api: a, ref: ref, keep: keep}
	if ref.sequence > 0 {
		if err := w.findInput(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.read(ctx, false); err != nil {
		return nil, err
	}
	if !granted.opens(ref.session, w.channel) || w.input == "" && !w.excerpt.Known() {
		return nil, errNoRun
	}
	return w, nil
}

// read reads what the ledger says by now, and little of other runs. A message that
// came before is found when it is looked for by its id alone.
func (w *Watch) read(ctx context.Context, byID bool) error {
	session, err := history.OpenSession(ctx, w.api.core, w.ref.session)
	if err != nil {
		return err
	}
	w.last, w.past, w.doubt = session.Newest(), nil, nil
	w.excerpt = workflow.Excerpt{Session: w.ref.session, Number: w.ref.run, Input: w.input}
	var decided []uint64
	if w.input != "" {
		reception, err := w.reception(ctx, session, byID)
		switch {
		case err == nil:
			w.excerpt.Number, decided = reception.Run, []uint64{reception.Record}
		case !errors.Is(err, bus.ErrNotFound):
			return err
		case !byID:
			w.doubt = time.After(doubtAfter)
		}
	}
	release := func() {}
	defer func() { release() }()
	records := 0
	for record, err := range session.Run(ctx, w.excerpt.Number, decided...) {
		if records++; err == nil && records == foldFreely {
			release, err = w.api.foldLong(ctx)
		}
		if err == nil {
			err = w.take(&record)
		}
		if err != nil {
			return err
		}
		if w.keep {
			w.past = append(w.past, record)
		}
	}
	return nil
}

// reception looks for what became of the message.
func (w *Watch) reception(ctx context.Context, session *history.SessionReader, byID bool) (history.ReceivedMessage, error) {
	reception, err := session.Received(ctx, w.ref.sequence, w.input)
	if !byID || !errors.Is(err, bus.ErrNotFound) {
		return reception, err
	}
	release, err := w.api.foldLong(ctx)
	if err != nil {
		return reception, err
	}
	defer release()
	return session.ReceivedBefore(ctx, w.input)
}

// findInput reads the event that a reference by sequence names. It must be a
// message of the same session: the sequence itself proves nothing.
func (w *Watch) findInput(ctx context.Context) error {
	shards := w.api.core.Shards()
	stream := bus.ShardStream(schemas.ShardOf(w.ref.session, shards))
	message, err := w.api.core.Get(ctx, stream, w.ref.sequence)
	if errors.Is(err, bus.ErrNotFound) {
		return errNoRun
	}
	if err != nil {
		return fmt.Errorf("message of %s: %w", w.ref, err)
	}
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return errNoRun
	}
	event, err := binding.Decode(message)
	session, run := event.Session(), 0
	if subject.Kind == bus.KindControl {
		session, run, _ = schemas.ParseRunID(event.Subject)
	}
	if err != nil || session != w.ref.session || subject.Kind != bus.KindIn && run == 0 {
		return errNoRun
	}
	w.input, w.channel, w.word, w.ref.run = event.ID, channelOf(&event), run > 0, run
	return nil
}

// take folds a record into the view and drops what nobody here needs.
func (w *Watch) take(record *history.StoredRecord) error {
	if err := w.excerpt.Apply(&record.Record); err != nil {
		return err
	}
	w.last = max(w.last, record.Sequence)
	record.Snapshot = nil
	for fact := range w.excerpt.Facts(&record.Record) {
		if reply := replyOf(fact); w.channel == "" && reply != nil && reply.Provider == string(schemas.ProviderWebhook) {
			w.channel = reply.Channel // of no other provider does a token open runs
		}
		if started, is := fact.(*schemas.RunStarted); is {
			w.language = started.Message.Language
		}
	}
	return nil
}

// replyOf returns where the answer to a message goes, if the fact holds a message.
func replyOf(fact schemas.Fact) *schemas.Reply {
	switch fact := fact.(type) {
	case *schemas.RunStarted:
		return fact.Message.Reply
	case *schemas.MessageReceived:
		if fact.Message != nil {
			return fact.Message.Reply
		}
	default:
	}
	return nil
}

// Run is what is known of the run; nil while there is none.
func (w *Watch) Run() *workflow.RunHistory { return w.excerpt.Run() }

// Language is that of the run, once it is known.
func (w *Watch) Language() string { return w.language }

// Asks returns the inquiry that the run waits with for a word of its requester, or nil.
func (w *Watch) Asks() *workflow.Inquiry {
	if run := w.excerpt.Run(); run != nil && !w.undecided() {
		return run.OpenInquiry()
	}
	return nil
}

// asked reports whether the question of Asks has gone out: what its requester writes before that is no answer to it.
func (w *Watch) asked() bool {
	open := w.Asks()
	return open != nil && !open.Asked.IsZero()
}

// WaitsFor is Asks, and where the requester is asked nothing what other people are asked.
func (w *Watch) WaitsFor() *workflow.Inquiry {
	if open := w.Asks(); open != nil || w.excerpt.Run() == nil || w.undecided() {
		return open
	}
	if i := slices.IndexFunc(w.excerpt.Run().Inquiries, (*workflow.Inquiry).Open); i >= 0 {
		return w.excerpt.Run().Inquiries[i]
	}
	return nil
}

// undecided reports whether what is watched is a word on an inquiry that nobody has looked at.
func (w *Watch) undecided() bool { return w.word && w.excerpt.Message() == nil }

// Settled reports whether the outcome and the words of the answer are fixed, and whether they may be told is decided.
func (w *Watch) Settled() bool {
	run := w.excerpt.Run()
	return w.dropped() || run != nil && run.Status != "" && !w.undecided() && (!run.AnswerHeld() || run.Phase == workflow.PhaseComplete)
}

// ended reports whether nothing more happens.
func (w *Watch) ended() bool {
	run := w.excerpt.Run()
	return w.dropped() || run != nil && run.Phase == workflow.PhaseComplete && !w.undecided()
}

// dropped reports whether the message came to nothing.
func (w *Watch) dropped() bool {
	message := w.excerpt.Message()
	return message != nil && (message.Run == 0 || message.Disposition == schemas.DispositionRefused)
}

// facts returns what a record says about the run; nothing while there is none.
func (w *Watch) facts(record *history.StoredRecord) schemas.Facts {
	var facts schemas.Facts
	for fact := range w.excerpt.Facts(&record.Record) {
		facts = append(facts, shownFact(fact))
	}
	return facts
}

// attend opens the reader of what comes after.
func (w *Watch) attend(ctx context.Context) error {
	if w.reader != nil {
		return nil
	}
	shards := w.api.core.Shards()
	stream := bus.ShardStream(schemas.ShardOf(w.ref.session, shards))
	reader, err := w.api.core.Read(ctx, stream, w.last+1, bus.SessionSubject(w.ref.session, shards))
	if err == nil {
		w.reader = reader
	}
	return err
}

// Next returns the next record: of what was, if that is kept, then of the session as
// they come. Ok is false when the timer fires first. A record may say nothing.
func (w *Watch) Next(ctx context.Context, timer <-chan time.Time) (record history.StoredRecord, ok bool, err error) {
	return w.next(ctx, timer, nil)
}

// next also returns, with a record that says nothing, when more is closed.
func (w *Watch) next(ctx context.Context, timer <-chan time.Time, more <-chan struct{}) (record history.StoredRecord, ok bool, err error) {
	if len(w.past) > 0 {
		record, w.past = w.past[0], w.past[1:]
		return record, true, nil
	}
	if err := w.attend(ctx); err != nil {
		return record, false, err
	}
	for {
		message, ok, err := w.reader.Next()
		if err != nil {
			return record, false, err
		}
		if ok && message.Sequence <= w.last {
			continue // it has been read meanwhile
		}
		if ok {
			record, err = w.hear(ctx, message)
			return record, err == nil, err
		}
		select {
		case <-w.reader.Wake():
		case <-timer:
			return record, false, nil
		case <-more:
			return record, true, nil
		case <-w.doubt:
			err = w.read(ctx, true)
			return record, err == nil, err
		case <-ctx.Done():
			return record, false, context.Cause(ctx)
		case <-w.api.closing:
			return record, false, ErrClosing
		}
	}
}

// hear takes a record that has come. When it says that the message is part of a run
// which another message has begun, that is read from its beginning.
func (w *Watch) hear(ctx context.Context, message bus.Message) (history.StoredRecord, error) {
	record, err := history.ReadRecord(ctx, w.api.core, message)
	known := w.excerpt.Number
	if err == nil {
		err = w.take(&record)
	}
	if err == nil && known == 0 && w.excerpt.Number > 0 && !w.excerpt.Known() {
		return history.StoredRecord{}, w.read(ctx, false)
	}
	if w.excerpt.Message() != nil {
		w.doubt = nil
	}
	return record, err
}

// Close releases what attend has opened.
func (w *Watch) Close() {
	if w.reader != nil {
		w.reader.Close()
	}
}
