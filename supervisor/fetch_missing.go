package supervisor

import (
	"context"
	"maps"
	"time"

	"podium/supervisor/eventloop"
	"podium/supervisor/plan"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// fetchMissing reads what a decision lacks: a pinned profile, a run that is over, or earlier inputs
// of the shard. Then the decision is made anew.
func (o *Owner) fetchMissing(ctx context.Context, live *liveSession, lacking *evaluation) {
	if lacking.profile != "" {
		o.fetchProfile(ctx, live, lacking.profile)
		return
	}
	if len(lacking.endedRuns) > 0 {
		o.fetchEndedRun(ctx, live, lacking.endedRuns[0])
		return
	}
	o.fetchForDecision(ctx, live, lacking.inputs)
}

// fetchInputs reads earlier inputs of the shard again, for a session that is already busy.
func (o *Owner) fetchInputs(ctx context.Context, live *liveSession, sequences []uint64, done func(now time.Time, err error)) {
	fetched := map[uint64]restore.Input{}
	o.loop.Start(func() error {
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
	fetchFor(ctx, o, live, func() (*plan.Profile, error) { return o.Profiles.Fetch(ctx, hash) }, func(time.Time, *plan.Profile) { o.end(live) })
}

// fetchFor reads something that a session stands on, and goes on with it once it is there.
func fetchFor[T any](ctx context.Context, o *Owner, live *liveSession, read func() (T, error), found func(now time.Time, value T)) {
	o.begin(live, stageFetching)
	eventloop.StartResult(o.loop, read, func(now time.Time, value T, err error) {
		if err != nil {
			o.handleMissing(ctx, live, now, err)
			return
		}
		found(now, value)
	})
}

// fetchEndedRun reads a run that is over, for the decision at hand.
func (o *Owner) fetchEndedRun(ctx context.Context, live *liveSession, run int) {
	at, record := endedRunKey{run, live.sequence}, live.state.Records+1
	fetchFor(ctx, o, live, func() (*session.EndedRun, error) {
		return restore.ReadEndedRun(ctx, o.Core, o.Profiles, live.id(), run, record)
	}, func(_ time.Time, found *session.EndedRun) {
		if live.endedRuns == nil {
			live.endedRuns = map[endedRunKey]*session.EndedRun{}
		}
		live.endedRuns[at] = found
		o.end(live)
	})
}
