package sim

import (
	"context"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// checkCheckpoints: whoever takes over at any checkpoint learns of every session
// that was open at its floor and is open still.
func (w *World) checkCheckpoints() {
	for shard := range w.shards {
		states, newest := map[string]session.State{}, map[string]uint64{}
		var points []placed
		for message, err := range w.ledger.Scan(context.Background(), bus.ShardStream(shard), 1, "podium.session.*.*", bus.ShardSubject(shard)) {
			w.must(err)
			if message.Subject != bus.ShardSubject(shard) {
				record, err := w.record(message)
				w.must(err)
				state, known := states[record.Session]
				if !known {
					state = session.New(record.Session)
				}
				states[record.Session], newest[record.Session] = state.Fold(&record), message.Sequence
				continue
			}
			point := placed{sequence: message.Sequence}
			event, err := bus.Decode(message)
			w.must(err)
			w.must(schemas.Unmarshal(event.Data, &point.Checkpoint))
			points = append(points, point)
			named := openAt(points)
			for id, state := range states {
				if !state.Idle() && newest[id] <= point.Floor && !named[id] {
					w.violate("the checkpoint at %d does not name session %s, which is open", message.Sequence, id)
				}
			}
		}
	}
}

// placed is a checkpoint and its place in the ledger.
type placed struct {
	schemas.Checkpoint
	sequence uint64
}

// openAt returns the sessions that the newest of these checkpoints says are open.
func openAt(points []placed) map[string]bool {
	base := points[len(points)-1].Base
	if base == 0 {
		base = points[len(points)-1].sequence
	}
	open := map[string]bool{}
	for i := range points {
		if points[i].sequence < base {
			continue
		}
		for _, id := range points[i].Closed {
			delete(open, id)
		}
		for _, id := range points[i].Open {
			open[id] = true
		}
	}
	return open
}
