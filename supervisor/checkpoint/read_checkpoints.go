package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

// A Chain is what the checkpoints of a shard say together: the newest that says everything, and
// those behind it, which say what has changed.
type Chain struct {
	Sequence  uint64 // of the newest one; 0 when there is none
	Watermark uint64 // that it says
	// The epoch of the owner whose watermark that is, and the sequence of the
	// checkpoint that it began with.
	watermarkEpoch, watermarkSince uint64
	base                           uint64 // sequence of the first one that counts
	messages                       int    // from there on
	names                          int    // in them
	open                           map[string]struct{}
}

// ReadChain reads a shard's newest checkpoint, and back from it those that count with it.
// There may be none.
func ReadChain(ctx context.Context, core bus.Core, shard int) (chain Chain, newest schemas.Checkpoint, err error) {
	chain.open = map[string]struct{}{}
	message, err := core.Last(ctx, bus.ShardSubject(shard))
	if errors.Is(err, bus.ErrNotFound) {
		return chain, newest, nil
	}
	type stored struct {
		point    schemas.Checkpoint
		sequence uint64
	}
	var points []stored // the newest first
	for base := uint64(0); err == nil; {
		read := stored{sequence: message.Sequence}
		if read.point, err = Read(ctx, core, message); err != nil {
			break
		}
		if points = append(points, read); len(points) == 1 {
			if base = read.point.Base; base == 0 {
				base = read.sequence
			}
		}
		switch previous := read.point.Previous; {
		case read.sequence == base:
			for _, read := range slices.Backward(points) {
				chain.add(&read.point, read.sequence)
			}
			return chain, points[0].point, nil
		case previous < base || previous >= read.sequence:
			err = fmt.Errorf("the one at %d does not lead back to its base at %d", read.sequence, base)
		default:
			message, err = core.Get(ctx, message.Stream, previous)
		}
	}
	return chain, newest, fmt.Errorf("checkpoint of shard %d: %w", shard, err)
}

// Read reads one checkpoint.
func Read(ctx context.Context, core bus.Core, message bus.Message) (point schemas.Checkpoint, err error) {
	event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
	if err == nil {
		err = schemas.Unmarshal(event.Data, &point)
	}
	return point, err
}

// add adds the next checkpoint of the shard.
func (c *Chain) add(point *schemas.Checkpoint, sequence uint64) {
	if point.Base == 0 {
		c.base, c.messages, c.names = sequence, 0, 0
		clear(c.open)
	}
	for _, id := range point.Closed {
		delete(c.open, id)
	}
	for _, id := range point.Open {
		c.open[id] = struct{}{}
	}
	c.Sequence, c.Watermark = sequence, point.LowWatermark
	switch {
	case point.LowWatermarkEpoch != 0:
		c.watermarkEpoch, c.watermarkSince = point.LowWatermarkEpoch, point.LowWatermarkSince
	case point.Since != 0:
		c.watermarkEpoch, c.watermarkSince = point.Epoch, point.Since
	default:
		c.watermarkEpoch, c.watermarkSince = point.Epoch, sequence
	}
	c.messages++
	c.names += len(point.Open) + len(point.Closed)
	if point.Base != 0 && point.Base != c.base { // the last message of a base
		c.base, c.messages, c.names = point.Base, 1, len(c.open)
	}
}

// unchanged returns a checkpoint that says nothing new.
func (c *Chain) unchanged() schemas.Checkpoint {
	return schemas.Checkpoint{
		LowWatermark: c.Watermark, LowWatermarkEpoch: c.watermarkEpoch, LowWatermarkSince: c.watermarkSince, Base: c.base, Previous: c.Sequence,
	}
}

// maxMessages bounds how many checkpoints a takeover reads, but for those that
// are parts of one.
const maxMessages = 1000

// needsNewBase reports whether it is better to name all open sessions anew: more stands
// in the checkpoints than that takes twice.
func (c *Chain) needsNewBase(open int) bool {
	return c.messages >= maxMessages || c.messages+c.names > 2*open
}

// OpenSessions returns the sessions that are open, in lexical order.
func (c *Chain) OpenSessions() []string { return slices.Sorted(maps.Keys(c.open)) }
