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

// presume takes a session for new when a message is the first that is heard of
// it, as it is for most. Nothing is risked: the append expects that there is no
// record, and if there is one, the session is loaded and the message decided again.
func (c *conversation) presume() bool {
	if c.presumed || len(c.inputs) == 0 || c.inputs[0].read.Message == nil {
		return false
	}
	c.presumed, c.loaded = true, true
	return true
}

// misjudged reports whether a session that has a record was taken for new, and
// then has it loaded.
func (c *conversation) misjudged() bool {
	if !c.presumed || c.sequence != 0 {
		return false
	}
	c.outdate()
	return true
}
