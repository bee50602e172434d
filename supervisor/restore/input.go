package restore

import (
	"context"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// An Input is an earlier input of a shard, read again, and its whole content: a Content in a
// state names it by its sequence alone.
type Input struct {
	Read    session.Input
	Content schemas.Result
}

// ReadInput reads an input of a shard again.
func ReadInput(ctx context.Context, core bus.Core, shard int, sequence uint64) (Input, error) {
	message, err := core.Get(ctx, bus.ShardStream(shard), sequence)
	if err != nil {
		return Input{}, err
	}
	event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
	if err != nil {
		return Input{}, err
	}
	subject, err := bus.ParseSubject(message.Subject)
	if err != nil {
		return Input{}, err
	}
	input, err := session.ParseInput(event, session.Publisher{Agent: subject.Agent, Adapter: subject.Adapter}, sequence)
	return Input{input, input.Content()}, err
}

// IsOnRecord reports whether an input of that sequence has caused a record of a session.
// It reads from the newest record back to those that have taken earlier inputs.
func IsOnRecord(ctx context.Context, core bus.Core, id string, sequence uint64) (taken bool, err error) {
	err = newestFirst(ctx, core, id, func(record *schemas.Record) (enough bool) {
		for i := range record.Transitions {
			cause := record.Transitions[i].Cause.Sequence
			taken = taken || cause == sequence
			enough = enough || cause > 0 && cause <= sequence
		}
		return enough
	})
	return taken, err
}

// newestFirst gives look the records of a session, the newest first, until it has seen enough.
func newestFirst(ctx context.Context, core bus.Core, id string, look func(*schemas.Record) (enough bool)) error {
	message, err := core.Last(ctx, bus.SessionSubject(id, core.Shards()))
	for err == nil {
		var stored Record
		if stored, err = ReadRecord(ctx, core.Artifacts(), message); err != nil {
			return err
		}
		if look(stored.Record) || stored.Previous == 0 {
			return nil
		}
		message, err = core.Get(ctx, message.Stream, stored.Previous)
	}
	return err
}
