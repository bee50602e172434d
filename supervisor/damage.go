package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/quarantine"
)

// damageTries is how often something that a session stands on, and that the ledger does not
// have, is looked for again. With the waits between that takes six seconds at the default
// backoff: by then it is known whether the whole ledger is lost, and nothing is stored.
const damageTries = 7

// damagePause is how long a conversation that stands on something lost is left alone before
// it is read once more: the disk may have come back.
const damagePause = time.Minute

// missing goes on after an error about what a session stands on. A temporary one is waited
// out. What the ledger has lost comes back only if the disk is restored: what waits for the
// session goes into quarantine, from where it can be sent again.
func (o *Owner) missing(ctx context.Context, c *conversation, now time.Time, err error) {
	switch {
	case !c.lacks(err):
		o.retry(c, now, err)
		return
	case !c.damaged:
		c.damaged = true
		o.Log.Error().Err(err).Str("session", c.id()).Int("shard", o.Shard).
			Msg("a conversation stands on something that the ledger has lost; what comes for it goes into quarantine")
	}
	if len(c.inputs) == 0 {
		o.rest(c)
		o.loop.Stop(c.alarm)
		c.alarm = o.loop.At(now.Add(damagePause), func(time.Time) { o.push(c) })
		return
	}
	o.putAside(ctx, c, c.inputs[0], err)
}

// lacks reports whether what was not found is lost: it was looked for often enough, and
// nothing else was wrong with the ledger meanwhile.
func (c *conversation) lacks(err error) bool {
	if bus.Temporary(err) {
		c.misses = 0
		return false
	}
	if c.misses <= damageTries {
		c.misses++
	}
	return c.damaged || c.misses > damageTries
}

// putAside puts an input into quarantine, or has its session read once more.
func (o *Owner) putAside(ctx context.Context, c *conversation, in *input, cause error) {
	detail := fmt.Sprintf("the ledger has lost something that its conversation stands on: %s", cause)
	event, err := quarantine.Event(in.message, schemas.QuarantineDamaged, detail)
	if err != nil {
		o.fail(err)
		return
	}
	o.publisher.Publish(ctx, bus.DeadSubject(schemas.QuarantineDamaged, o.Shard), &event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
		if err != nil {
			o.retry(c, now, err)
			return
		}
		o.settle(c, []*input{in})
	})
}
