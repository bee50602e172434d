package supervisor

import (
	"context"
	"time"

	"podium/bus"
)

// handleMissing decides what becomes of a session when a record, an input or a profile that it needs
// was not found. A temporary error is waited out. What the ledger has lost comes back only if the
// disk is restored: what waits for the session goes into quarantine, from where it can be sent again.
func (o *Owner) handleMissing(ctx context.Context, live *liveSession, now time.Time, err error) {
	switch {
	case !live.isLost(err):
		o.retry(live, now, err)
		return
	case !live.damaged:
		live.damaged = true
		o.Log.Error().Err(err).Str("session", live.id()).Int("shard", o.Shard).
			Msg("a session stands on something that the ledger has lost; what comes for it goes into quarantine")
	}
	if len(live.inputs) == 0 {
		o.rest(live)
		o.loop.Stop(live.timer)
		live.timer = o.loop.At(now.Add(damagePause), func(time.Time) { o.push(live) })
		return
	}
	o.quarantineDamaged(ctx, live, live.inputs[0], err)
}

// isLost reports whether what was not found is lost: it was looked for often enough, and
// nothing else was wrong with the ledger meanwhile.
func (live *liveSession) isLost(err error) bool {
	if bus.Temporary(err) {
		live.misses = 0
		return false
	}
	if live.misses <= damageTries {
		live.misses++
	}
	return live.damaged || live.misses > damageTries
}

// damageTries is how often something that a session stands on, and that the ledger does not
// have, is looked for again. With the waits between that takes six seconds at the default
// backoff: by then it is known whether the whole ledger is lost, and nothing is stored.
const damageTries = 7

// damagePause is how long a session that stands on something lost is left alone before
// it is read once more: the disk may have come back.
const damagePause = time.Minute
