package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// loaded is a session as the ledger has it.
type loaded struct {
	state     session.State
	sequence  uint64
	snap      uint64
	unsnapped int
	chain     string
	last      *schemas.Record // the newest record; nil when there is none
}

// loadSession reads a session: its newest record, and those before it back to
// the newest snapshot.
func loadSession(ctx context.Context, core bus.Core, shards int, id string) (*loaded, error) {
	message, err := core.Last(ctx, bus.SessionSubject(id, shards))
	if errors.Is(err, bus.ErrNotFound) {
		return &loaded{state: session.New(id)}, nil
	}
	if err != nil {
		return nil, err
	}
	return loadFrom(ctx, core, id, message)
}

// loadFrom reads a session whose newest message is known.
func loadFrom(ctx context.Context, core bus.Core, id string, message bus.Message) (*loaded, error) {
	result := &loaded{sequence: message.Sequence}
	var behind []*schemas.Record
	for {
		event, body, err := readRecord(ctx, core.Artifacts(), message)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
		if result.last == nil {
			result.last, result.chain = event.record, hash(body)
		}
		if len(event.record.Snapshot) > 0 {
			if err = schemas.Unmarshal(event.record.Snapshot, &result.state); err != nil {
				return nil, fmt.Errorf("session %s: snapshot: %w", id, err)
			}
			result.snap = message.Sequence
			break
		}
		behind = append(behind, event.record)
		if event.previous == 0 {
			result.state = session.New(id)
			break
		}
		if message, err = core.Get(ctx, message.Stream, event.previous); err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	for _, record := range slices.Backward(behind) {
		result.state = result.state.Fold(record)
	}
	result.unsnapped = len(behind)
	return result, nil
}

type storedRecord struct {
	record   *schemas.Record
	previous uint64
}

func readRecord(ctx context.Context, artifacts bus.Artifacts, message bus.Message) (storedRecord, []byte, error) {
	event, err := bus.DecodeWhole(ctx, artifacts, message)
	if err != nil {
		return storedRecord{}, nil, err
	}
	var record schemas.Record
	if err = schemas.Unmarshal(event.Data, &record); err != nil {
		return storedRecord{}, nil, err
	}
	return storedRecord{record: &record, previous: event.Previous}, event.Data, nil
}

// load brings a session into memory. If its last record may owe outputs, they
// are published again before anything else is decided.
func (o *Owner) load(ctx context.Context, c *conversation) {
	o.begin(c)
	var found *loaded
	o.operate(func() (err error) {
		found, err = loadSession(ctx, o.Core, o.shards, c.id)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.retry(c, now, err)
			return
		}
		c.take(found)
		o.track(c)
		o.owe(ctx, c, found, now)
	})
}

func (c *conversation) take(found *loaded) {
	c.loaded = true
	c.state, c.sequence, c.chain = found.state, found.sequence, found.chain
	c.snap, c.unsnapped, c.fresh = found.snap, found.unsnapped, false
}

// owe publishes the outputs of a session's last record unless the checkpoint
// proves that they are acknowledged, and lets the conversation go on.
//
// Below the floor they are, but for one case: a former owner that did not know
// that it was one wrote the record after the shard had been taken over.
func (o *Owner) owe(ctx context.Context, c *conversation, found *loaded, now time.Time) {
	if found.last == nil || found.sequence <= o.floor.value && !o.checkpoint.stray(found) {
		o.end(c)
		return
	}
	if c.hold == nil {
		c.hold = o.floor.enter(o.floor.read) // no input above the floor may lead to it any more
	}
	o.emit(ctx, c, found.last.Last(), func(time.Time) { o.end(c) }, now)
}
