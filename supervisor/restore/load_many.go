package restore

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/supervisor/session"
)

// What bounds the reading of many sessions: chunks of so many, so many chunks at
// a time, and in each so many sessions at a time.
const (
	chunkSize     = 512
	chunksAtOnce  = 8
	sessionAtOnce = 8
)

// LoadMany reads sessions, many at a time. They come in an order that depends on the
// ledger alone; one that has no record is left out. One that cannot be read is there
// with Unreadable set: that holds it back, and no other.
func LoadMany(ctx context.Context, core bus.Core, shard int, ids []string) ([]*StoredSession, error) {
	chunks := slices.Collect(slices.Chunk(ids, chunkSize))
	found := make([][]*StoredSession, len(chunks))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(chunksAtOnce)
	for i, chunk := range chunks {
		reading.Go(func() (err error) {
			found[i], err = loadChunk(ctx, core, shard, chunk)
			return err
		})
	}
	err := reading.Wait()
	return slices.Concat(found...), err
}

// loadChunk loads sessions in the order of their newest records.
func loadChunk(ctx context.Context, core bus.Core, shard int, ids []string) ([]*StoredSession, error) {
	messages, err := core.LastOf(ctx, shard, subjects(core, ids))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(messages, func(a, b bus.Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
	found := make([]*StoredSession, len(messages))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(sessionAtOnce)
	for i, message := range messages {
		reading.Go(func() error {
			subject, err := bus.ParseSubject(message.Subject)
			if err != nil {
				return err
			}
			found[i], err = LoadFrom(ctx, core, subject.Session, message)
			if err != nil && !bus.Temporary(err) && ctx.Err() == nil {
				found[i], err = &StoredSession{State: session.New(subject.Session), Unreadable: true}, nil
			}
			return err
		})
	}
	return found, reading.Wait()
}

// NewestSequences returns the sequence of the newest record of each session that has one.
func NewestSequences(ctx context.Context, core bus.Core, shard int, ids []string) (map[string]uint64, error) {
	records := make(map[string]uint64, len(ids))
	for chunk := range slices.Chunk(ids, chunkSize) {
		found, err := core.LastOf(ctx, shard, subjects(core, chunk))
		if err != nil {
			return nil, err
		}
		for i := range found {
			subject, err := bus.ParseSubject(found[i].Subject)
			if err != nil {
				return nil, err
			}
			records[subject.Session] = found[i].Sequence
		}
	}
	return records, nil
}

func subjects(core bus.Core, ids []string) []string {
	subjects := make([]string, len(ids))
	for i, id := range ids {
		subjects[i] = bus.SessionSubject(id, core.Shards())
	}
	return subjects
}
