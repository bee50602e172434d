package restore

import (
	"context"

	"podium/bus"
	"podium/bus/history"
	"podium/schemas/workflow"
	"podium/supervisor/session"
)

// ReadEndedRun reads a run that is over, as it stood before a record of its session.
func ReadEndedRun(ctx context.Context, core bus.Core, profiles *Profiles, id string, run int, record uint64) (*session.EndedRun, error) {
	opened, err := history.OpenSession(ctx, core, id)
	if err != nil {
		return nil, err
	}
	excerpt := workflow.Excerpt{Session: id, Number: run}
	for stored, err := range opened.Run(ctx, run) {
		if err == nil && stored.Number >= record {
			break
		}
		if err == nil {
			err = excerpt.Apply(&stored.Record)
		}
		if err != nil {
			return nil, err
		}
	}
	ended := &session.EndedRun{History: excerpt.Run()}
	if ended.History != nil {
		ended.Profile, err = profiles.Fetch(ctx, ended.History.ProfileHash)
	}
	return ended, err
}
