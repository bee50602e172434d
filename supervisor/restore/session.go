// Package restore reads again from the ledger what a decision stands on: sessions by their
// records, inputs that came before, runs that are over, and the profiles that they were
// begun with. It changes nothing but the object store, where profiles are kept.
package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// A StoredSession is a session as the ledger has it.
type StoredSession struct {
	State      session.State
	Sequence   uint64 // of its newest record; 0 when there is none
	Snapshot   uint64 // sequence of the newest record with a snapshot
	Since      SinceSnapshot
	Tip        schemas.Tip
	Link       schemas.Link    // of the newest record
	Last       *schemas.Record // the newest record; nil when there is none
	Unreadable bool            // it stands there and could not be read
}

// SinceSnapshot is what stands in a session behind its newest snapshot.
type SinceSnapshot struct {
	records  int
	bytes    int // of the records
	snapshot int // bytes of the snapshot; 0 when there is none
}

// Due reports whether the next record is to hold a snapshot. The larger a state is,
// the more seldom it is written, so that all snapshots together weigh no more than
// what has happened; and what a load reads behind a snapshot is no more than it.
func (s SinceSnapshot) Due() bool {
	return s.records+1 >= schemas.SnapshotEvery && s.bytes >= s.snapshot
}

// With returns what stands behind the newest snapshot after one more record; snapshot is
// the size of that which it holds, or 0.
func (s SinceSnapshot) With(record, snapshot int) SinceSnapshot {
	if snapshot > 0 {
		return SinceSnapshot{snapshot: snapshot}
	}
	return SinceSnapshot{records: s.records + 1, bytes: s.bytes + record, snapshot: s.snapshot}
}

// Load reads a session: its newest record, and those before it back to the newest snapshot.
func Load(ctx context.Context, core bus.Core, id string) (*StoredSession, error) {
	message, err := core.Last(ctx, bus.SessionSubject(id, core.Shards()))
	if errors.Is(err, bus.ErrNotFound) {
		return &StoredSession{State: session.New(id)}, nil
	}
	if err != nil {
		return nil, err
	}
	return LoadFrom(ctx, core, id, message)
}

// LoadFrom reads a session as it was when a message of it was its newest.
func LoadFrom(ctx context.Context, core bus.Core, id string, message bus.Message) (*StoredSession, error) {
	result := &StoredSession{Sequence: message.Sequence, State: session.New(id)}
	var later []Record
	for {
		stored, err := ReadRecord(ctx, core.Artifacts(), message)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
		if result.Last == nil {
			result.Last, result.Link = stored.Record, stored.Link
		}
		if len(stored.Snapshot) > 0 {
			result.State = session.State{}
			if err = schemas.Unmarshal(stored.Snapshot, &result.State); err != nil {
				return nil, fmt.Errorf("session %s: snapshot: %w", id, err)
			}
			result.Snapshot, result.Since.snapshot = message.Sequence, len(stored.Snapshot)
			result.Tip = schemas.TipBefore(stored.Record, stored.Previous).After(stored.Record, stored.Trail, stored.Sequence)
			break
		}
		later = append(later, stored)
		result.Since.records, result.Since.bytes = len(later), result.Since.bytes+stored.Size
		if stored.Previous == 0 {
			break
		}
		if message, err = core.Get(ctx, message.Stream, stored.Previous); err != nil {
			return nil, fmt.Errorf("session %s: %w", id, err)
		}
	}
	for _, stored := range slices.Backward(later) {
		result.State = result.State.FoldRecord(stored.Record)
		result.Tip = result.Tip.After(stored.Record, stored.Trail, stored.Sequence)
	}
	return result, nil
}
