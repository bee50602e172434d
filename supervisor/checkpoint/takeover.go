package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/binding"
)

// TakeOver takes the shard over: it appends a checkpoint with the next epoch, and returns the
// sessions that were open. It waits for the ledger. Another process that was faster is
// ErrNotOwner.
func (w *Writer) TakeOver(ctx context.Context, now time.Time) (open []string, err error) {
	core := w.config.Publisher.Core
	chain, newest, err := ReadChain(ctx, core, w.config.Shard)
	if err != nil {
		return nil, err
	}
	taken := chain.unchanged()
	taken.Epoch, taken.Owner, taken.Build, taken.Time = newest.Epoch+1, w.config.Owner, w.config.Build, now
	event, err := w.event(&taken)
	if err != nil {
		return nil, err
	}
	message, err := binding.Encode(bus.ShardSubject(w.config.Shard), &event)
	if err != nil {
		return nil, err
	}
	ack, err := bus.Append(ctx, core, message, bus.ExpectLast(chain.Sequence))
	if errors.Is(err, bus.ErrConflict) {
		err = ErrNotOwner
	}
	if err != nil {
		return nil, fmt.Errorf("take over shard %d: %w", w.config.Shard, err)
	}
	w.before = chain
	open = chain.OpenSessions()
	chain.add(&taken, ack.Sequence)
	w.since, w.Epoch = ack.Sequence, taken.Epoch
	w.reset(chain)
	return open, nil
}

// WrittenByFenced reports whether a record was written in an epoch that was over when it
// was stored: then the watermark, which is another owner's, says nothing of its outputs.
func (w *Writer) WrittenByFenced(epoch, sequence uint64) bool {
	return sequence > w.before.watermarkSince && epoch < w.before.watermarkEpoch || sequence > w.since && epoch < w.Epoch
}
