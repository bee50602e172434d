package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/supervisor/restore"
)

// Open takes the shard over: it appends a checkpoint with the next epoch, loads
// the open sessions and starts to read behind the low watermark. It waits for the ledger.
func (o *Owner) Open(ctx context.Context, now time.Time) error {
	now = now.UTC()
	o.now = now
	if o.ArtifactGrants == nil {
		grants, err := artifact.OpenGrants(ctx, o.Core, now)
		if err != nil {
			return fmt.Errorf("take over shard %d: %w", o.Shard, err)
		}
		o.ArtifactGrants, o.publisher.ArtifactGrants = grants, grants
	}
	open, err := o.checkpoint.TakeOver(ctx, now)
	if err != nil {
		return err
	}
	o.watermark.Value, o.watermark.Read = o.checkpoint.Watermark, o.checkpoint.Watermark
	if err = o.admission.Open(ctx, o.checkpoint.Epoch, now); err != nil {
		return err
	}
	if err = o.reopen(ctx, open, now); err != nil {
		return err
	}
	state, err := o.Core.State(ctx, bus.ShardStream(o.Shard))
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.stream.tail, o.stream.heard = state.Last, now
	o.stream.reader, err = o.Core.Read(ctx, bus.ShardStream(o.Shard), o.watermark.Value+1, bus.InputSubjects(o.Shard)...)
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.admission.Join()
	return nil
}

// reopen loads the sessions that were open.
func (o *Owner) reopen(ctx context.Context, open []string, now time.Time) error {
	loaded, err := restore.LoadMany(ctx, o.Core, o.Shard, open)
	if err != nil {
		return fmt.Errorf("load open sessions of shard %d: %w", o.Shard, err)
	}
	for _, found := range loaded {
		if o.fenced(found) {
			return fmt.Errorf("take over shard %d: %w", o.Shard, ErrNotOwner)
		}
		live := o.liveSession(found.State.Session)
		if found.Unreadable {
			o.push(live)
			continue
		}
		live.restoreFrom(found)
		o.trackSession(live)
		o.admission.RecoverDays(&live.demand, found.Last)
		o.begin(live, stageLoading)
		o.republish(ctx, live, found, now)
	}
	return nil
}
