package runlog

import (
	"context"
	"errors"
	"iter"

	"podium/bus"
	"podium/bus/history"
	"podium/schemas"
	"podium/schemas/workflow"
)

// Sent is where the message of an excerpt stands.
type Sent struct {
	Sequence uint64 // 0 when it is not known
	Again    bool   // it may be one that came before, under another sequence
}

// AwaitEnd shows what is said of a run, from its beginning on, and returns it when it
// has ended, or as soon as enough of it is known; a nil enough never says so.
func (r Reader) AwaitEnd(ctx context.Context, excerpt *workflow.Excerpt, message Sent,
	show func(*schemas.Record, *workflow.RunHistory), enough func(*workflow.RunHistory) bool,
) (*workflow.RunHistory, error) {
	ended := func() bool {
		run := excerpt.Run()
		return run != nil && (run.Phase == workflow.PhaseComplete || enough != nil && enough(run))
	}
	for record, err := range r.recordsOf(ctx, excerpt, message, ended) {
		known := excerpt.Number
		if err == nil {
			err = excerpt.Apply(&record.Record)
		}
		if err != nil {
			return nil, err
		}
		if known == 0 && excerpt.Number > 0 && !excerpt.Known() {
			break
		}
		show(&record.Record, excerpt.Run())
	}
	if ended() {
		return excerpt.Run(), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The message is part of a run that another one has begun.
	*excerpt = workflow.Excerpt{Session: excerpt.Session, Number: excerpt.Number}
	return r.AwaitEnd(ctx, excerpt, Sent{}, show, enough)
}

// AwaitNumber reads until the number of the run is known that the message of an excerpt belongs to.
func (r Reader) AwaitNumber(ctx context.Context, excerpt *workflow.Excerpt, message Sent) error {
	known := func() bool { return excerpt.Number > 0 }
	for record, err := range r.recordsOf(ctx, excerpt, message, known) {
		if err == nil {
			err = excerpt.Apply(&record.Record)
		}
		if err != nil {
			return err
		}
		if known() {
			return nil
		}
	}
	if known() {
		return nil
	}
	return ctx.Err()
}

// recordsOf yields what is known of a run or a message, then the records that come until
// the run has ended. It may have ended before, and go on to deliver its answer after all.
func (r Reader) recordsOf(ctx context.Context, excerpt *workflow.Excerpt, message Sent, ended func() bool) iter.Seq2[history.StoredRecord, error] {
	return func(yield func(history.StoredRecord, error) bool) {
		opened, err := history.OpenSession(ctx, r.Core, excerpt.Session)
		if err == nil && excerpt.Input != "" {
			var reception history.ReceivedMessage
			if reception, err = opened.Received(ctx, message.Sequence, excerpt.Input); message.Again && errors.Is(err, bus.ErrNotFound) {
				reception, err = opened.ReceivedBefore(ctx, excerpt.Input)
			}
			excerpt.Number = reception.Run
			if errors.Is(err, bus.ErrNotFound) {
				err = nil
			}
		}
		if err != nil {
			yield(history.StoredRecord{}, err)
			return
		}
		for record, err := range opened.Run(ctx, excerpt.Number) {
			if !yield(record, err) || err != nil {
				return
			}
		}
		if ended() {
			return
		}
		for record, err := range history.FollowSession(ctx, r.Core, excerpt.Session, opened.Newest()+1) {
			if !yield(record, err) || ended() {
				return
			}
		}
	}
}
