package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
	"podium/supervisor/session"
)

// loaded is a session as the ledger has it.
type loaded struct {
	state    session.State
	sequence uint64
	snap     uint64
	behind   behind
	tip      schemas.Tip
	chain    digest
	last     *schemas.Record // the newest record; nil when there is none
	unread   bool            // it stands there and could not be read
}

// behind is what stands in a session behind its newest snapshot.
type behind struct {
	records  int
	bytes    int // of the records
	snapshot int // bytes of the snapshot; 0 when there is none
}

// due reports whether the next record is to hold a snapshot. The larger a state is,
// the more seldom it is written, so that all snapshots together weigh no more than
// what has happened; and what a load reads behind a snapshot is no more than it.
func (b behind) due() bool {
	return b.records+1 >= schemas.SnapshotEvery && b.bytes >= b.snapshot
}

// with returns what stands behind the newest snapshot after one more record.
func (b behind) with(record, snapshot int) behind {
	if snapshot > 0 {
		return behind{snapshot: snapshot}
	}
	return behind{records: b.records + 1, bytes: b.bytes + record, snapshot: b.snapshot}
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
	result := &loaded{sequence: message.Sequence, state: session.New(id)}
	var later []storedRecord
	for {
		stored, body, err := readRecord(ctx, core.Artifacts(), message)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
		if result.last == nil {
			result.last, result.chain = stored.record, hash(body)
		}
		if len(stored.record.Snapshot) > 0 {
			result.state = session.State{}
			if err = schemas.Unmarshal(stored.record.Snapshot, &result.state); err != nil {
				return nil, fmt.Errorf("session %s: snapshot: %w", id, err)
			}
			result.snap, result.behind.snapshot = message.Sequence, len(stored.record.Snapshot)
			result.tip = schemas.TipBefore(stored.record, stored.previous).After(stored.record, stored.trail, stored.sequence)
			break
		}
		later = append(later, stored)
		result.behind.records, result.behind.bytes = len(later), result.behind.bytes+len(body)
		if stored.previous == 0 {
			break
		}
		if message, err = core.Get(ctx, message.Stream, stored.previous); err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	for _, stored := range slices.Backward(later) {
		result.state = result.state.Fold(stored.record)
		result.tip = result.tip.After(stored.record, stored.trail, stored.sequence)
	}
	return result, nil
}

type storedRecord struct {
	record             *schemas.Record
	sequence, previous uint64
	trail              *schemas.Trail
}

func readRecord(ctx context.Context, artifacts bus.Artifacts, message bus.Message) (storedRecord, []byte, error) {
	event, err := artifact.DecodeWhole(ctx, artifacts, message)
	if err != nil {
		return storedRecord{}, nil, err
	}
	var record schemas.Record
	if err = schemas.Unmarshal(event.Data, &record); err != nil {
		return storedRecord{}, nil, err
	}
	return storedRecord{record: &record, sequence: message.Sequence, previous: event.Previous, trail: event.Trail}, event.Data, nil
}

// load brings a session into memory. If its last record may owe outputs, they
// are published again before anything else is decided.
func (o *Owner) load(ctx context.Context, c *conversation) {
	o.begin(c)
	read, newest := o.floor.read, c.newest
	var found *loaded
	o.operate(func() (err error) {
		found, err = loadSession(ctx, o.Core, o.shards, c.id)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			if c.unread = !bus.Temporary(err); c.unread {
				o.learn(c) // nobody waits to hear of a session that nobody can read
			}
			o.missing(ctx, c, now, err)
			return
		}
		if o.deposed(found) {
			o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			return
		}
		if c.sequence > 0 {
			o.overwritten(c)
		}
		if c.newest == newest {
			c.newest = 0 // it was read since
		}
		c.take(found)
		c.confirmedTo = max(c.confirmedTo, read)
		o.track(c)
		o.recognize(c, 0)
		o.owe(ctx, c, found, now)
	})
}

// overwritten notes that a session holds what another owner has written since it
// was loaded.
func (o *Owner) overwritten(c *conversation) {
	o.Log.Warn().Str("session", c.id).Int("shard", o.Shard).Msg("another owner wrote to the session")
	o.checkpoint.again = true // only the owner can write one
}

// deposed reports whether a session holds what a later owner of the shard has
// written: this one does not know of what that one has begun.
func (o *Owner) deposed(found *loaded) bool {
	return found.last != nil && found.last.Epoch > o.checkpoint.epoch
}

func (c *conversation) take(found *loaded) {
	c.state, c.sequence, c.chain = found.state, found.sequence, found.chain
	c.snap, c.behind, c.tip, c.fresh = found.snap, found.behind, found.tip, false
	c.newest = max(c.newest, found.sequence)
	c.loaded, c.unread, c.damaged, c.misses = c.sequence == c.newest, false, false, 0
	c.inherited = ""
	if run := c.state.Active; run != nil {
		for task := range run.All {
			if task.State.UnderWay() {
				c.inherited += task.Request
			}
		}
	}
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
