package supervisor

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

// A standing is what the checkpoints of a shard say together.
type standing struct {
	sequence uint64 // of the newest one; 0 when there is none
	floor    uint64 // that it says
	// The epoch of the owner whose floor that is, and the sequence of the
	// checkpoint that it began with.
	floorEpoch, floorSince uint64
	base                   uint64 // sequence of the first one that counts
	messages               int    // from there on
	names                  int    // in them
	open                   map[string]struct{}
}

// readStanding reads a shard's newest checkpoint, and back from it those that
// count with it. There may be none.
func readStanding(ctx context.Context, core bus.Core, shard int) (stands standing, newest schemas.Checkpoint, err error) {
	stands.open = map[string]struct{}{}
	message, err := core.Last(ctx, bus.ShardSubject(shard))
	if errors.Is(err, bus.ErrNotFound) {
		return stands, newest, nil
	}
	type stored struct {
		point    schemas.Checkpoint
		sequence uint64
	}
	var chain []stored // the newest first
	for base := uint64(0); err == nil; {
		read := stored{sequence: message.Sequence}
		if read.point, err = readCheckpoint(ctx, core, message); err != nil {
			break
		}
		if chain = append(chain, read); len(chain) == 1 {
			if base = read.point.Base; base == 0 {
				base = read.sequence
			}
		}
		switch previous := read.point.Previous; {
		case read.sequence == base:
			for _, read := range slices.Backward(chain) {
				stands.add(&read.point, read.sequence)
			}
			return stands, chain[0].point, nil
		case previous < base || previous >= read.sequence:
			err = fmt.Errorf("the one at %d does not lead back to its base at %d", read.sequence, base)
		default:
			message, err = core.Get(ctx, message.Stream, previous)
		}
	}
	return stands, newest, fmt.Errorf("checkpoint of shard %d: %w", shard, err)
}

func readCheckpoint(ctx context.Context, core bus.Core, message bus.Message) (point schemas.Checkpoint, err error) {
	event, err := artifact.DecodeWhole(ctx, core.Artifacts(), message)
	if err == nil {
		err = schemas.Unmarshal(event.Data, &point)
	}
	return point, err
}

// add adds the next checkpoint of the shard.
func (s *standing) add(point *schemas.Checkpoint, sequence uint64) {
	if point.Base == 0 {
		s.base, s.messages, s.names = sequence, 0, 0
		clear(s.open)
	}
	for _, id := range point.Closed {
		delete(s.open, id)
	}
	for _, id := range point.Open {
		s.open[id] = struct{}{}
	}
	s.sequence, s.floor = sequence, point.Floor
	switch {
	case point.FloorEpoch != 0:
		s.floorEpoch, s.floorSince = point.FloorEpoch, point.FloorSince
	case point.Since != 0:
		s.floorEpoch, s.floorSince = point.Epoch, point.Since
	default:
		s.floorEpoch, s.floorSince = point.Epoch, sequence
	}
	s.messages++
	s.names += len(point.Open) + len(point.Closed)
	if point.Base != 0 && point.Base != s.base { // the last message of a base
		s.base, s.messages, s.names = point.Base, 1, len(s.open)
	}
}

// following returns a checkpoint that says nothing new.
func (s *standing) following() schemas.Checkpoint {
	return schemas.Checkpoint{
		Floor: s.floor, FloorEpoch: s.floorEpoch, FloorSince: s.floorSince, Base: s.base, Previous: s.sequence,
	}
}

// maxCheckpoints bounds how many checkpoints a takeover reads, but for those that
// are parts of one.
const maxCheckpoints = 1000

// stale reports whether it is better to name all open sessions anew: more stands
// in the checkpoints than that takes twice.
func (s *standing) stale(open int) bool {
	return s.messages >= maxCheckpoints || s.messages+s.names > 2*open
}

// parts returns the checkpoints that say together where a shard stands, none
// naming more sessions than the limit, and whether they are a base. Each of them
// is true whether the next is stored or not: only the last has the new floor, and
// a session too many does no harm.
func (p *checkpoint) parts(sessions map[string]*conversation, floor uint64, limit int) (parts []schemas.Checkpoint, base bool) {
	opened, closed := p.changes(sessions)
	if base = p.stale(len(sessions)); base {
		opened = slices.Sorted(maps.Keys(sessions))
	}
	if base && len(opened) <= limit {
		return []schemas.Checkpoint{{Floor: floor, Open: opened}}, true
	}
	for len(opened)+len(closed) > limit {
		part := p.following()
		part.Open, opened = split(opened, limit)
		part.Closed, closed = split(closed, limit-len(part.Open))
		parts = append(parts, part)
	}
	last := p.following()
	last.Floor, last.FloorEpoch, last.FloorSince = floor, 0, 0
	last.Open, last.Closed = opened, closed
	return append(parts, last), base
}

func split(ids []string, n int) (first, rest []string) {
	n = min(n, len(ids))
	return ids[:n:n], ids[n:]
}

// changes returns, in lexical order, the sessions in memory that the checkpoints
// do not name, and those that they name and that have left it.
func (p *checkpoint) changes(sessions map[string]*conversation) (opened, closed []string) {
	for id := range p.moved {
		_, named := p.open[id]
		switch open := sessions[id] != nil; {
		case open && !named:
			opened = append(opened, id)
		case !open && named:
			closed = append(closed, id)
		}
	}
	clear(p.moved)
	slices.Sort(opened)
	slices.Sort(closed)
	return opened, closed
}

// stand takes what the ledger says for true. What is in memory may differ
// anywhere.
func (p *checkpoint) stand(stands standing, sessions map[string]*conversation) {
	p.standing = stands
	for id := range stands.open {
		p.move(id)
	}
	for id := range sessions {
		p.move(id)
	}
}

// move notes that a session has come into memory or left it.
func (p *checkpoint) move(id string) {
	if p.moved == nil {
		p.moved = map[string]struct{}{}
	}
	p.moved[id] = struct{}{}
}
