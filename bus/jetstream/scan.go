package jetstream

import (
	"context"
	"iter"
	"time"

	"podium/bus"
)

// Scan implements bus.Ledger.
func (c *Core) Scan(ctx context.Context, stream string, from uint64, subjects ...string) iter.Seq2[bus.Message, error] {
	return func(yield func(bus.Message, error) bool) {
		if err := c.scan(ctx, stream, from, subjects, func(m bus.Message) bool { return yield(m, nil) }); err != nil {
			yield(bus.Message{}, err)
		}
	}
}

func (c *Core) scan(ctx context.Context, stream string, from uint64, subjects []string, yield func(bus.Message) bool) error {
	state, err := c.State(ctx, stream)
	if err != nil || max(from, 1) > state.Last {
		return err
	}
	r, err := c.newReader(ctx, stream, from, subjects, readWindow)
	if err != nil {
		return err
	}
	defer r.Close()
	for !r.exhausted() {
		next, ok, err := r.next()
		switch {
		case err != nil:
			return err
		case !ok:
			if err := r.await(ctx); err != nil {
				return err
			}
			continue
		case next.message.Sequence > state.Last || !yield(next.message):
			return nil
		case next.message.Sequence == state.Last || next.pending == 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
	return nil
}

// await waits for a message. What a consumer expected may expire before it comes;
// a new consumer then says how much there is.
func (r *reader) await(ctx context.Context) error {
	select {
	case <-r.wake:
	case <-time.After(silence):
		r.question()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
