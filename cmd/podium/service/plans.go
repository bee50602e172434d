package service

import (
	"context"
	"errors"
	"time"

	"podium/bus/backoff"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/taskplan"
)

// writePlansAgainMax bounds the wait before plans that could not be written are tried again.
const writePlansAgainMax = time.Minute

// planFolders are the directories in which profiles have their plans written.
func (s *Service) planFolders() taskplan.Folders {
	folders := taskplan.Folders{}
	for name, profile := range s.settings.Profiles {
		if profile.Outputs.Plans != "" {
			folders[name] = installation.Absolute(s.settings.In(profile.Outputs.Plans))
		}
	}
	return folders
}

// openPlans looks whether the plans can be written, before anything is taken.
func (s *Service) openPlans() error {
	folders := s.planFolders()
	if len(folders) == 0 {
		return nil
	}
	return folders.Keep(s.Ledger.Data)
}

// writePlans keeps the plans of a shard's runs as files until ctx ends. No run waits for it: what cannot be written is logged, and tried again.
func (s *Service) writePlans(ctx context.Context, shard int) error {
	follower := taskplan.Follower{Core: s.Ledger.Core, Shard: shard, Folders: s.planFolders(), Data: s.Ledger.Data}
	if len(follower.Folders) == 0 {
		return nil
	}
	for trouble := (backoff.Backoff{First: restartAfter, Most: writePlansAgainMax}); ; {
		began := time.Now()
		err := follower.Run(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop, and goes on from there
		}
		if time.Since(began) > writePlansAgainMax {
			trouble.Reset()
		}
		if err == nil {
			err = errors.New("it stopped by itself")
		}
		s.log.Error().Err(err).Int("shard", shard).Msg("plans are not written (outputs.plans); trying again")
		if trouble.Wait(ctx) != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}
