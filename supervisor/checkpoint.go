package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/cloudevents"
	"podium/schemas"
)

// checkpoint is what the owner knows of its shard's checkpoint.
type checkpoint struct {
	epoch    uint64
	since    uint64   // sequence of the checkpoint that the epoch began with
	before   standing // when the epoch began
	standing          // of the newest one on the ledger
	clean    bool     // it ends a stop in order
	writing  bool
	due      time.Time // zero until the first Tick
	again    bool      // write one as soon as possible
	// moved holds the sessions that came into memory or left it, and of which the
	// checkpoints may say something else.
	moved map[string]struct{}
}

// Open takes the shard over: it appends a checkpoint with the next epoch, loads
// the open sessions and starts to read behind the floor. It waits for the ledger.
func (o *Owner) Open(ctx context.Context, now time.Time) error {
	now = now.UTC()
	o.now = now
	if o.Grants == nil {
		grants, err := artifact.OpenGrants(ctx, o.Core, now)
		if err != nil {
			return fmt.Errorf("take over shard %d: %w", o.Shard, err)
		}
		o.Grants = grants
	}
	stands, before, err := readStanding(ctx, o.Core, o.Shard)
	if err != nil {
		return err
	}
	o.floor.value, o.floor.read = stands.floor, stands.floor
	taken := stands.following()
	taken.Epoch, taken.Owner, taken.Time = before.Epoch+1, o.Name, now
	event, err := o.checkpointEvent(&taken)
	if err != nil {
		return err
	}
	message, err := cloudevents.Encode(bus.ShardSubject(o.Shard), &event)
	if err != nil {
		return err
	}
	ack, err := bus.Append(ctx, o.Core, message, bus.After(stands.sequence))
	if errors.Is(err, bus.ErrConflict) {
		return fmt.Errorf("take over shard %d: %w", o.Shard, ErrNotOwner)
	}
	if err != nil {
		return fmt.Errorf("take over shard %d: %w", o.Shard, err)
	}
	o.checkpoint.before = stands
	open := slices.Sorted(maps.Keys(stands.open))
	stands.add(&taken, ack.Sequence)
	o.checkpoint.since, o.checkpoint.epoch = ack.Sequence, taken.Epoch
	o.checkpoint.stand(stands, o.sessions)
	if err = o.openBreakers(ctx); err != nil {
		return err
	}
	if err = o.reopen(ctx, open, now); err != nil {
		return err
	}
	state, err := o.Core.State(ctx, bus.ShardStream(o.Shard))
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.tail, o.heard = state.Last, now
	o.reader, err = o.Core.Read(ctx, bus.ShardStream(o.Shard), stands.floor+1, bus.InputSubjects(o.Shard)...)
	if err != nil {
		return fmt.Errorf("read shard %d: %w", o.Shard, err)
	}
	o.Neighbors.join(o)
	return nil
}

// stray reports whether a record was written in an epoch that was over: so that
// the floor, which is another owner's, says nothing of its outputs.
func (p *checkpoint) stray(found *loaded) bool {
	return found.sequence > p.before.floorSince && found.last.Epoch < p.before.floorEpoch ||
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

// writeCheckpoint says where the shard stands, in as many messages as that takes.
// Each of them counts alone, so that it does not matter how many are stored.
func (o *Owner) writeCheckpoint(ctx context.Context, now time.Time, clean bool) {
	o.checkpoint.writing, o.checkpoint.again = true, false
	o.checkpoint.due = now.Add(o.CheckpointEvery)
	parts, base := o.checkpoint.parts(o.sessions, o.floor.value, o.CheckpointNames)
	for i := range parts {
		parts[i].Epoch, parts[i].Since, parts[i].Owner, parts[i].Time = o.checkpoint.epoch, o.checkpoint.since, o.Name, now
	}
	parts[len(parts)-1].Clean = clean
	o.writeParts(ctx, parts, base)
}

// writeParts writes checkpoints one after the other. The last one of a base says
// that those from the first on are all that counts.
func (o *Owner) writeParts(ctx context.Context, parts []schemas.Checkpoint, base bool) {
	part := &parts[0]
	part.Previous = o.checkpoint.sequence
	event, err := o.checkpointEvent(part)
	if err != nil {
		o.fail(err)
		return
	}
	o.send(ctx, bus.ShardSubject(o.Shard), &event, bus.After(o.checkpoint.sequence), func(_ time.Time, ack bus.Ack, err error) {
		if err != nil {
			o.complain(zerolog.WarnLevel, err).Int("shard", o.Shard).Msg("checkpoint not acknowledged; reading it again")
			o.reread(ctx)
			return
		}
		o.checkpoint.add(part, ack.Sequence)
		o.checkpoint.clean = part.Clean
		if len(parts) == 1 {
			o.checkpoint.writing = false
			return
		}
		if base {
			parts[len(parts)-1].Base = ack.Sequence
		}
		o.writeParts(ctx, parts[1:], false)
	})
}

// reread finds out whose the newest checkpoint is. One that we did not expect
// may be our own, whose acknowledgment was lost.
func (o *Owner) reread(ctx context.Context) {
	var stands standing
	var newest schemas.Checkpoint
	o.operate(func() (err error) {
		stands, newest, err = readStanding(ctx, o.Core, o.Shard)
		return err
	}, func(now time.Time, err error) {
		switch {
		case err != nil:
			o.alarms.add(now.Add(o.backoff(0)), func(time.Time) { o.reread(ctx) })
		case newest.Epoch != o.checkpoint.epoch || newest.Owner != o.Name:
			o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
		default:
			o.checkpoint.writing, o.checkpoint.clean = false, newest.Clean
			o.checkpoint.stand(stands, o.sessions)
		}
	})
}
