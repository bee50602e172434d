package supervisor

import (
	"context"
	"maps"
	"time"

	"podium/bus"
	"podium/supervisor/history"
	"podium/supervisor/session"
)

// collect fetches inputs for a conversation that is already busy.
func (o *Owner) collect(ctx context.Context, c *conversation, sequences []uint64, done func(now time.Time, err error)) {
	fetched := map[uint64]history.Input{}
	o.loop.Await(func() error {
		for _, sequence := range sequences {
			input, err := history.ReadInput(ctx, o.Core, o.Shard, sequence)
			if err != nil {
				return err
			}
			input.Read.Event.Data = nil // it has been read
			fetched[sequence] = input
		}
		return nil
	}, func(now time.Time, err error) {
		if c.recalled == nil {
			c.recalled = map[uint64]history.Input{}
		}
		maps.Copy(c.recalled, fetched)
		done(now, err)
	})
}

// fetch reads bodies that stand in the ledger, for the decision at hand.
func (o *Owner) fetch(ctx context.Context, c *conversation, sequences []uint64) {
	o.begin(c)
	o.collect(ctx, c, sequences, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.end(c)
	})
}

func (o *Owner) fetchProfile(ctx context.Context, c *conversation, hash string) {
	o.begin(c)
	o.loop.Await(func() error {
		_, err := o.Profiles.Fetch(ctx, hash)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		o.end(c)
	})
}

// fetchFormer reads a run that is over, for the decision at hand.
func (o *Owner) fetchFormer(ctx context.Context, c *conversation, run int) {
	o.begin(c)
	at, record := formerRun{run, c.sequence}, c.state.Records+1
	var found *session.Former
	o.loop.Await(func() (err error) {
		found, err = history.FormerRun(ctx, o.Core, o.Profiles, c.id(), run, record)
		return err
	}, func(now time.Time, err error) {
		if err != nil {
			o.missing(ctx, c, now, err)
			return
		}
		if c.formers == nil {
			c.formers = map[formerRun]*session.Former{}
		}
		c.formers[at] = found
		o.end(c)
	})
}

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
