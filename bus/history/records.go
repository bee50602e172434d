// Package history reads the records of a session: all of them ([LoadSession]), those that
// follow ([FollowSession]), or those of one run among any number ([OpenSession]).
//
// It reads and decides nothing: what a record means is said by package schemas.
package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/backoff"
	"podium/bus/binding"
	"podium/schemas"
)

// A StoredRecord is a record of a session and its place on the ledger.
type StoredRecord struct {
	schemas.Record
	Sequence uint64
	Recorded time.Time
}

// LoadSession yields the records of a session that stood on the ledger when it
// was called, in order. It ends after the first error.
func LoadSession(ctx context.Context, ledger bus.Ledger, session string) iter.Seq2[StoredRecord, error] {
	stream, subject := sessionPlace(ledger, session)
	messages := ledger.Scan(ctx, stream, 1, subject)
	return func(yield func(StoredRecord, error) bool) {
		for message, err := range messages {
			if err != nil {
				yield(StoredRecord{}, fmt.Errorf("load session %s: %w", session, err))
				return
			}
			record, err := ReadRecord(ctx, ledger, message)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// FollowSession yields the records of a session from a ledger sequence on, then
// waits for more. It ends with the error of ctx, or with one that is final. A
// ledger that was away for a while is only a pause.
func FollowSession(ctx context.Context, ledger bus.Ledger, session string, from uint64) iter.Seq2[StoredRecord, error] {
	stream, subject := sessionPlace(ledger, session)
	return follow(ctx, ledger, stream, subject, from)
}

// FollowShard is FollowSession for all sessions of a shard, in the order of its stream.
func FollowShard(ctx context.Context, ledger bus.Ledger, shard int, from uint64) iter.Seq2[StoredRecord, error] {
	return follow(ctx, ledger, bus.ShardStream(shard), fmt.Sprintf("podium.session.%d.*", shard), from)
}

func follow(ctx context.Context, ledger bus.Ledger, stream, subject string, from uint64) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		position := max(from, 1)
		for {
			more, err := followOnce(ctx, ledger, stream, subject, &position, yield)
			if !more {
				return
			}
			if bus.Temporary(err) {
				err = backoff.Pause(ctx, time.Second)
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(StoredRecord{}, fmt.Errorf("follow %s: %w", subject, err))
				return
			}
		}
	}
}

// followOnce reads until its reader fails; more is false when the caller has enough.
func followOnce(ctx context.Context, ledger bus.Ledger, stream, subject string, position *uint64, yield func(StoredRecord, error) bool) (more bool, err error) {
	reader, err := ledger.Read(ctx, stream, *position, subject)
	if err != nil {
		return true, err
	}
	defer reader.Close()
	for {
		message, err := bus.Next(ctx, reader)
		if err != nil && ctx.Err() == nil && !errors.Is(err, bus.ErrClosed) {
			err = &bus.TemporaryError{Op: "read", Err: err} // it has lost its place; position has not
		}
		if err != nil {
			return true, err
		}
		record, err := ReadRecord(ctx, ledger, message)
		if err != nil {
			return true, err
		}
		if !yield(record, nil) {
			return false, nil
		}
		*position = message.Sequence + 1
	}
}

func sessionPlace(ledger bus.Ledger, session string) (stream, subject string) {
	shards := ledger.Shards()
	return bus.ShardStream(schemas.ShardOf(session, shards)), bus.SessionSubject(session, shards)
}

// ReadRecord reads the record that a message of a session holds. A body that
// stands in the object store is fetched when the ledger is a Core.
func ReadRecord(ctx context.Context, ledger bus.Ledger, message bus.Message) (StoredRecord, error) {
	stored := StoredRecord{Sequence: message.Sequence, Recorded: message.Recorded}
	body, err := bodyOf(ctx, ledger, message, schemas.TypeRecord)
	if err == nil {
		err = schemas.Unmarshal(body, &stored.Record)
	}
	if err != nil {
		return StoredRecord{}, fmt.Errorf("record %d of %s: %w", message.Sequence, message.Stream, err)
	}
	return stored, nil
}

// bodyOf returns the whole body of a message, which has to be an event of that type.
func bodyOf(ctx context.Context, ledger bus.Ledger, message bus.Message, eventType string) ([]byte, error) {
	e, err := binding.Decode(message)
	if err == nil && e.Artifact != nil {
		core, ok := ledger.(bus.Core)
		if !ok {
			return nil, errors.New("its body stands in the object store, which is out of reach here")
		}
		err = artifact.Resolve(ctx, core.Artifacts(), &e)
	}
	if err == nil && e.Type != eventType {
		err = &bus.MalformedError{Detail: "it is not a " + eventType}
	}
	return e.Data, err
}
