package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"podium/bus"
	"podium/supervisor/session"
)

// What bounds the loading of open sessions: chunks of so many, so many chunks at
// a time, and in each so many sessions at a time.
const (
	reopenChunk    = 512
	reopenChunks   = 8
	reopenSessions = 8
)

// reopen loads the sessions that were open, many at a time, and then takes them
// in an order that depends on the ledger alone.
func (o *Owner) reopen(ctx context.Context, open []string, now time.Time) error {
	chunks := slices.Collect(slices.Chunk(open, reopenChunk))
	found := make([][]*loaded, len(chunks))
	err := inParallel(len(chunks), reopenChunks, func(i int) (err error) {
		found[i], err = o.loadChunk(ctx, chunks[i])
		return err
	})
	if err != nil {
		return fmt.Errorf("load open sessions of shard %d: %w", o.Shard, err)
	}
	for _, chunk := range found {
		for _, session := range chunk {
			if o.deposed(session) {
				return fmt.Errorf("take over shard %d: %w", o.Shard, ErrNotOwner)
			}
			c := o.conversation(session.state.Session)
			if session.unread {
				o.push(c)
				continue
			}
			c.take(session)
			o.track(c)
			o.begin(c)
			o.owe(ctx, c, session, now)
		}
	}
	return nil
}

// loadChunk loads sessions in the order of their newest records. One that has
// none is left out.
func (o *Owner) loadChunk(ctx context.Context, ids []string) ([]*loaded, error) {
	subjects := make([]string, len(ids))
	for i, id := range ids {
		subjects[i] = bus.SessionSubject(id, o.shards)
	}
	messages, err := o.Core.LastOf(ctx, o.Shard, subjects)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(messages, func(a, b bus.Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
	found := make([]*loaded, len(messages))
	err = inParallel(len(messages), reopenSessions, func(i int) error {
		subject, err := bus.ParseSubject(messages[i].Subject)
		if err != nil {
			return err
		}
		found[i], err = loadFrom(ctx, o.Core, subject.Session, messages[i])
		if err != nil && !bus.Temporary(err) && ctx.Err() == nil {
			// It cannot be read: that holds it back, and no other. See load.
			found[i], err = &loaded{state: session.New(subject.Session), unread: true}, nil
		}
		return err
	})
	return found, err
}

// inParallel calls do with 0 to n-1, a few at a time. After an error it begins no
// more, and returns the one of the smallest number.
func inParallel(n, atOnce int, do func(i int) error) error {
	var (
		next    atomic.Int64
		failed  atomic.Bool
		workers sync.WaitGroup
		errs    = make([]error, n)
	)
	for range min(n, atOnce) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = do(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
