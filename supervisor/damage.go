package supervisor

import (
	"context"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
)

// damageTries is how often something that a session stands on, and that the ledger does not
// have, is looked for again. With the waits between that takes six seconds at the default
// backoff: by then it is known whether the whole ledger is lost, and nothing is stored.
const damageTries = 7

// missing goes on after an error about what a session stands on. A temporary one is waited
// out. What the ledger has lost comes back only if the disk is restored: what waits for the
// session goes into quarantine, from where it can be sent again.
func (o *Owner) missing(ctx context.Context, c *conversation, now time.Time, err error) {
	switch {
	case bus.Temporary(err), !c.damaged && c.tries < damageTries:
		o.retry(c, now, err)
		return
	case !c.damaged:
		c.damaged = true
		o.Log.Error().Err(err).Str("session", c.id).Int("shard", o.Shard).
			Msg("a conversation stands on something that the ledger has lost; what comes for it goes into quarantine")
	}
	if len(c.inputs) == 0 {
		c.busy = false // until something comes for it
		o.busy--
		return
	}
	o.putAside(ctx, c, c.inputs[0], err)
}

// putAside puts an input into quarantine, or has its session read once more.
func (o *Owner) putAside(ctx context.Context, c *conversation, in *input, cause error) {
	detail := fmt.Sprintf("the ledger has lost something that its conversation stands on: %s", cause)
	event, err := quarantined(in.message, schemas.QuarantineDamaged, detail)
	if err != nil {
		o.fail(err)
		return
	}
	o.send(ctx, bus.DeadSubject(schemas.QuarantineDamaged, o.Shard), &event, bus.Expect{}, func(now time.Time, _ bus.Ack, err error) {
		if err != nil {
			o.retry(c, now, err)
			return
		}
		o.settle(c, []*input{in})
	})
}
