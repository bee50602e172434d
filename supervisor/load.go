package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas/fault"
	"podium/supervisor/eventloop"
	"podium/supervisor/restore"
)

// load brings a session into memory. If outputs of its last record may be outstanding, they
// are published again before anything else is decided.
func (o *Owner) load(ctx context.Context, live *liveSession) {
	o.begin(live, stageLoading)
	read, newestSequence := o.watermark.Read, live.newestSequence
	eventloop.StartResult(o.loop, func() (*restore.StoredSession, error) {
		return restore.Load(ctx, o.Core, live.id())
	}, func(now time.Time, found *restore.StoredSession, err error) {
		if err != nil {
			if live.unreadable = !bus.Temporary(err); live.unreadable {
				o.becomeKnown(live) // nobody waits to hear of a session that nobody can read
			}
			o.handleMissing(ctx, live, now, err)
			return
		}
		if o.fenced(found) {
			o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			return
		}
		if live.sequence > 0 {
			o.noteForeignRecord(live)
		}
		if live.newestSequence == newestSequence {
			live.newestSequence = 0 // it was read since
		}
		live.restoreFrom(found)
		live.confirmedTo = max(live.confirmedTo, read)
		o.trackSession(live)
		o.admission.RecoverDays(&live.demand, found.Last)
		o.assignOrphans(live, 0)
		o.republish(ctx, live, found, now)
	})
}

// noteForeignRecord notes that a session holds what another owner has written since it
// was loaded.
func (o *Owner) noteForeignRecord(live *liveSession) {
	o.Log.Warn().Str("session", live.id()).Int("shard", o.Shard).Msg("another owner wrote to the session")
	o.checkpoint.WriteSoon = true // only the owner can write one
}

// fenced reports whether a session holds what a later owner of the shard has
// written: this one does not know of what that one has begun.
func (o *Owner) fenced(found *restore.StoredSession) bool {
	return found.Last != nil && found.Last.Epoch > o.checkpoint.Epoch
}

func (live *liveSession) restoreFrom(found *restore.StoredSession) {
	live.state, live.sequence, live.link = found.State, found.Sequence, found.Link
	if active := live.state.Active; active != nil && fault.Is("a reminder for each takeover") {
		for i, inquiry := range active.Inquiries {
			forgotten := *inquiry
			forgotten.Notices = min(inquiry.Notices, 1)
			active.Inquiries[i] = &forgotten
		}
	}
	live.snapshotSequence, live.sinceSnapshot, live.tip, live.fresh = found.Snapshot, found.Since, fault.Either("a new owner does not know the way back", restore.StoredSession{}.Tip, found.Tip), false
	live.newestSequence = max(live.newestSequence, found.Sequence)
	live.loaded, live.unreadable, live.damaged, live.misses = live.sequence == live.newestSequence, false, false, 0
	live.demand.MarkInherited()
}

// assumeNew takes a session for new when a message is the first that is heard of
// it, as it is for most. Nothing is risked: the append expects that there is no
// record, and if there is one, the session is loaded and the message decided again.
func (live *liveSession) assumeNew() bool {
	if live.assumedNew || len(live.inputs) == 0 || live.inputs[0].read.Message == nil {
		return false
	}
	live.assumedNew, live.loaded = true, true
	return true
}

// assumptionFailed reports whether a session that has a record was taken for new, and
// then has it loaded.
func (live *liveSession) assumptionFailed() bool {
	if !live.assumedNew || live.sequence != 0 {
		return false
	}
	live.invalidate()
	return true
}
