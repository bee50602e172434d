package supervisor

import (
	"context"
	"time"

	"podium/bus"
	"podium/bus/history"
	"podium/supervisor/session"
)

// readFormer reads a run that is over, as it stood before a record of its session.
func readFormer(ctx context.Context, core bus.Core, profiles *Profiles, id string, run int, record uint64) (*session.Former, error) {
	opened, err := history.OpenSession(ctx, core, id)
	if err != nil {
		return nil, err
	}
	former := &session.Former{Number: run}
	for stored, err := range opened.Run(ctx, run) {
		if err != nil {
			return nil, err
		}
		if stored.Number >= record {
			break
		}
		former.Apply(&stored.Record)
	}
	if hash := former.ProfileHash(); hash != "" {
		former.Profile, err = profiles.Fetch(ctx, hash)
	}
	return former, err
}

// A formerRun is a run before the record that follows the one at a sequence.
type formerRun struct {
	run      int
	sequence uint64
}

// former returns what has been fetched of a run for the decision at hand, and notes
// what has not.
func (o *Owner) former(c *conversation, missing *[]int) func(int) *session.Former {
	return func(run int) *session.Former {
		known := c.formers[formerRun{run, c.sequence}]
		if known == nil {
			*missing = append(*missing, run)
		}
		return known
	}
}

// fetchFormer reads a run that is over, for the decision at hand.
func (o *Owner) fetchFormer(ctx context.Context, c *conversation, run int) {
	o.begin(c)
	at, record := formerRun{run, c.sequence}, c.state.Records+1
	var found *session.Former
	o.operate(func() (err error) {
		found, err = readFormer(ctx, o.Core, o.Profiles, c.id, run, record)
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
