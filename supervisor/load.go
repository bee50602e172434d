package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/supervisor/history"
)

// load brings a session into memory. If its last record may owe outputs, they
// are published again before anything else is decided.
func (o *Owner) load(ctx context.Context, c *conversation) {
	o.begin(c)
	read, newest := o.watermark.Read, c.newest
	var found *history.Session
	o.loop.Await(func() (err error) {
		found, err = history.Load(ctx, o.Core, c.id())
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			if c.unread = !bus.Temporary(err); c.unread {
				o.learn(c) // nobody waits to hear of a session that nobody can read
			}
			o.missing(ctx, c, now, err)
			return
		}
		if o.deposed(found) {
			o.fail(fmt.Errorf("shard %d: %w", o.Shard, ErrNotOwner))
			return
		}
		if c.sequence > 0 {
			o.overwritten(c)
		}
		if c.newest == newest {
			c.newest = 0 // it was read since
		}
		c.take(found)
		c.confirmedTo = max(c.confirmedTo, read)
		o.track(c)
		o.recognize(c, 0)
		o.owe(ctx, c, found, now)
	})
}

// overwritten notes that a session holds what another owner has written since it
// was loaded.
func (o *Owner) overwritten(c *conversation) {
	o.Log.Warn().Str("session", c.id()).Int("shard", o.Shard).Msg("another owner wrote to the session")
	o.checkpoint.Again = true // only the owner can write one
}

// deposed reports whether a session holds what a later owner of the shard has
// written: this one does not know of what that one has begun.
func (o *Owner) deposed(found *history.Session) bool {
	return found.Last != nil && found.Last.Epoch > o.checkpoint.Epoch
}

func (c *conversation) take(found *history.Session) {
	c.state, c.sequence, c.chain = found.State, found.Sequence, found.Chain
	c.snap, c.behind, c.tip, c.fresh = found.Snapshot, found.Since, found.Tip, false
	c.newest = max(c.newest, found.Sequence)
	c.loaded, c.unread, c.damaged, c.misses = c.sequence == c.newest, false, false, 0
	c.admission.Inherit()
}

// owe publishes the outputs of a session's last record unless the checkpoint
// proves that they are acknowledged, and lets the conversation go on.
//
// Below the floor they are, but for one case: a former owner that did not know
// that it was one wrote the record after the shard had been taken over.
func (o *Owner) owe(ctx context.Context, c *conversation, found *history.Session, now time.Time) {
	if found.Last == nil || found.Sequence <= o.watermark.Value && !o.checkpoint.WrittenByFenced(found.Last.Epoch, found.Sequence) {
		o.end(c)
		return
	}
	if c.hold == nil {
		c.hold = o.watermark.Pin() // no input above the floor may lead to it any more
	}
	o.emit(ctx, c, found.Last.Last(), func(time.Time) { o.end(c) }, now)
}
