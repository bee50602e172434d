package restore

import (
	"context"

	"podium/bus"
	"podium/bus/history"
	"podium/supervisor/session"
)

// EndedRun reads a run that is over, as it stood before a record of its session.
func EndedRun(ctx context.Context, core bus.Core, profiles *Profiles, id string, run int, record uint64) (*session.EndedRun, error) {
	opened, err := history.OpenSession(ctx, core, id)
	if err != nil {
		return nil, err
	}
	ended := &session.EndedRun{Number: run}
	for stored, err := range opened.Run(ctx, run) {
		if err != nil {
			return nil, err
		}
		if stored.Number >= record {
			break
		}
		ended.Apply(&stored.Record)
	}
	if hash := ended.ProfileHash(); hash != "" {
		ended.Profile, err = profiles.Fetch(ctx, hash)
	}
	return ended, err
}
