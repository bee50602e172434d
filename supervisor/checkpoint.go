package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"podium/bus"
	"podium/schemas"
)

// checkpoint is what the owner knows of its shard's checkpoint.
type checkpoint struct {
	epoch    uint64
	since    uint64             // sequence of the checkpoint that the epoch began with
	before   schemas.Checkpoint // the newest one of the owner before
	sequence uint64             // of the newest one on the ledger
	floor    uint64             // that it says
	clean    bool               // that it ends a stop in order
	writing  bool
	due      time.Time // zero until the first Tick
	again    bool      // write one as soon as possible
}

// Open takes the shard over: it appends a checkpoint with the next epoch, loads
// the open sessions and starts to read behind the floor. It waits for the ledger.
func (o *Owner) Open(ctx context.Context, now time.Time) error {
	now = now.UTC()
	o.now = now
	before, sequence, err := o.lastCheckpoint(ctx)
	if err != nil {
		return err
	}
	o.floor.value, o.floor.read = before.Floor, before.Floor
	taken := schemas.Checkpoint{
		Epoch: before.Epoch + 1, Owner: o.Name, Time: now, Floor: before.Floor, Open: before.Open,
	}
	event, err := o.checkpointEvent(&taken)
	if err != nil {
		return err
	}
	if err = bus.Offload(ctx, o.Core.Artifacts(), &event); err != nil {
		return fmt.Errorf("take over shard %d: %w", o.Shard, err)
	}
	message, err := bus.Encode(bus.ShardSubject(o.Shard), &event)
	if err != nil {
		return err
	}
	ack, err := bus.Append(ctx, o.Core, message, bus.After(sequence))
	if errors.Is(err, bus.ErrConflict) {
		return fmt.Errorf("take over shard %d: %w", o.Shard, ErrNotOwner)
	}
	if err != nil {
		return fmt.Errorf("take over shard %d: %w", o.Shard, err)
	}
	if before.Since == 0 {
		before.Since = sequence
	}
	o.checkpoint.before, o.checkpoint.since = before, ack.Sequence
	o.checkpoint.epoch, o.checkpoint.sequence, o.checkpoint.floor = taken.Epoch, ack.Sequence, before.Floor
	if err = o.openBreakers(ctx); err != nil {
		return err
	}
	if err = o.reopen(ctx, before.Open, now); err != nil {
		return err
	}
	state, err := o.Core.State(ctx, bus.ShardStream(o.Shard))
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.tail, o.heard = state.Last, now
	o.reader, err = o.Core.Read(ctx, bus.ShardStream(o.Shard), before.Floor+1, bus.InputSubjects(o.Shard)...)
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.Neighbors.join(o)
	return nil
}

// lastCheckpoint reads the shard's newest checkpoint; the zero one if there is none.
func (o *Owner) lastCheckpoint(ctx context.Context) (point schemas.Checkpoint, sequence uint64, err error) {
	message, err := o.Core.Last(ctx, bus.ShardSubject(o.Shard))
	if errors.Is(err, bus.ErrNotFound) {
		return point, 0, nil
	}
	if err == nil {
		sequence = message.Sequence
		var event schemas.Event
		if event, err = bus.DecodeWhole(ctx, o.Core.Artifacts(), message); err == nil {
			err = schemas.Unmarshal(event.Data, &point)
		}
	}
	if err != nil {
		return point, 0, fmt.Errorf("checkpoint of shard %d: %w", o.Shard, err)
	}
	return point, sequence, nil
}

// stray reports whether a record was written in an epoch that was over.
func (p *checkpoint) stray(found *loaded) bool {
	return found.sequence > p.before.Since && found.last.Epoch < p.before.Epoch ||
		found.sequence > p.since && found.last.Epoch < p.epoch
}

func (o *Owner) checkpointEvent(point *schemas.Checkpoint) (schemas.Event, error) {
	body, err := schemas.Marshal(point)
	return schemas.Event{
		ID:     bus.ShardSubject(o.Shard) + "/" + strconv.FormatUint(point.Epoch, 10) + "/" + strconv.FormatInt(point.Time.UnixNano(), 10),
		Source: "/podium/supervisor", Type: schemas.TypeCheckpoint, Time: point.Time,
		DataContentType: schemas.MediaTypeJSON, Data: body,
	}, err
}

// next returns when the next checkpoint is due, if there is anything new to say.
func (p *checkpoint) next(o *Owner) (time.Time, bool) {
	if p.writing || (!p.again && p.floor == o.floor.value) {
		return time.Time{}, false
	}
	return p.due, true
}

func (o *Owner) checkpointIfDue(ctx context.Context, now time.Time) {
	o.sweep()
	if o.checkpoint.due.IsZero() {
		o.checkpoint.due = now.Add(o.CheckpointEvery)
	}
	at, due := o.checkpoint.next(o)
	if !due || o.failed != nil || now.Before(at) && !o.checkpoint.again {
		return
	}
	o.writeCheckpoint(ctx, now, false)
}

// A checkpoint names every open session, so that with many of them checkpoints
// are further apart: the ledger must not fill with them.
const (
	checkpointPerOpen = time.Millisecond
	maxCheckpointWait = time.Minute
)

func (o *Owner) writeCheckpoint(ctx context.Context, now time.Time, clean bool) {
	point := schemas.Checkpoint{
		Epoch: o.checkpoint.epoch, Since: o.checkpoint.since, Owner: o.Name, Time: now, Floor: o.floor.value, Open: o.open(), Clean: clean,
	}
	event, err := o.checkpointEvent(&point)
	if err != nil {
		o.fail(err)
		return
	}
	o.checkpoint.writing, o.checkpoint.again = true, false
	o.checkpoint.due = now.Add(o.CheckpointEvery + min(time.Duration(len(point.Open))*checkpointPerOpen, maxCheckpointWait))
	o.send(ctx, bus.ShardSubject(o.Shard), &event, bus.After(o.checkpoint.sequence), func(_ time.Time, ack bus.Ack, err error) {
		if err != nil {
			o.Log.Warn().Err(err).Int("shard", o.Shard).Msg("checkpoint not acknowledged; reading it again")
			o.reread(ctx)
			return
		}
		o.checkpoint.writing = false
		o.checkpoint.sequence, o.checkpoint.floor, o.checkpoint.clean = ack.Sequence, point.Floor, point.Clean
	})
}

// reread finds out whose the newest checkpoint is. One that we did not expect
// may be our own, whose acknowledgment was lost.
func (o *Owner) reread(ctx context.Context) {
	var newest schemas.Checkpoint
	var sequence uint64
	o.operate(func() (err error) {
		newest, sequence, err = o.lastCheckpoint(ctx)
		return err
	}, func(now time.Time, err error) {
		switch {
		case err != nil:
			o.alarms.add(now.Add(o.backoff(0)), func(time.Time) { o.reread(ctx) })
		case newest.Epoch != o.checkpoint.epoch || newest.Owner != o.Name:
			o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
		default:
			o.checkpoint.writing = false
			o.checkpoint.sequence, o.checkpoint.floor, o.checkpoint.clean = sequence, newest.Floor, newest.Clean
		}
	})
}

// open names the sessions that a successor has to load, in lexical order.
func (o *Owner) open() []string {
	open := []string{}
	for id, c := range o.sessions {
		if !c.state.Idle() || c.busy || len(c.inputs) > 0 || c.sequence > o.floor.value {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	return open
}
