package supervisor

import (
	"context"
	"maps"
	"time"

	"podium/bus"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// fetchInputs fetches inputs for a session that is already busy.
func (o *Owner) fetchInputs(ctx context.Context, live *liveSession, sequences []uint64, done func(now time.Time, err error)) {
	fetched := map[uint64]restore.Input{}
	o.loop.Await(func() error {
		for _, sequence := range sequences {
			input, err := restore.ReadInput(ctx, o.Core, o.Shard, sequence)
			if err != nil {
				return err
			}
			input.Read.Event.Data = nil // it has been read
			fetched[sequence] = input
		}
		return nil
	}, func(now time.Time, err error) {
		if live.fetchedInputs == nil {
			live.fetchedInputs = map[uint64]restore.Input{}
		}
		maps.Copy(live.fetchedInputs, fetched)
		done(now, err)
	})
}

// fetchForDecision reads bodies that stand in the ledger, for the decision at hand.
func (o *Owner) fetchForDecision(ctx context.Context, live *liveSession, sequences []uint64) {
	o.begin(live, stageFetching)
	o.fetchInputs(ctx, live, sequences, func(now time.Time, err error) {
		if err != nil {
			o.handleMissing(ctx, live, now, err)
			return
		}
		o.end(live)
	})
}

func (o *Owner) fetchProfile(ctx context.Context, live *liveSession, hash string) {
	o.begin(live, stageFetching)
	o.loop.Await(func() error {
		_, err := o.Profiles.Fetch(ctx, hash)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.handleMissing(ctx, live, now, err)
			return
		}
		o.end(live)
	})
}

// fetchEndedRun reads a run that is over, for the decision at hand.
func (o *Owner) fetchEndedRun(ctx context.Context, live *liveSession, run int) {
	o.begin(live, stageFetching)
	at, record := endedRunKey{run, live.sequence}, live.state.Records+1
	var found *session.EndedRun
	o.loop.Await(func() (err error) {
		found, err = restore.EndedRun(ctx, o.Core, o.Profiles, live.id(), run, record)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.handleMissing(ctx, live, now, err)
			return
		}
		if live.endedRuns == nil {
			live.endedRuns = map[endedRunKey]*session.EndedRun{}
		}
		live.endedRuns[at] = found
		o.end(live)
	})
}

// damageTries is how often something that a session stands on, and that the ledger does not
// have, is looked for again. With the waits between that takes six seconds at the default
// backoff: by then it is known whether the whole ledger is lost, and nothing is stored.
const damageTries = 7

// damagePause is how long a session that stands on something lost is left alone before
// it is read once more: the disk may have come back.
const damagePause = time.Minute

// handleMissing goes on after an error about what a session stands on. A temporary one is waited
// out. What the ledger has lost comes back only if the disk is restored: what waits for the
// session goes into quarantine, from where it can be sent again.
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
