package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"podium/bus/backoff"
	"podium/supervisor"
)

// lookForStallsEvery is how often the owners of the shards are looked at.
const lookForStallsEvery = time.Second

// A shardStall is a shard on the health page that decides nothing although inputs wait.
type shardStall struct {
	Shard int       `json:"shard"`
	Since time.Time `json:"since"`
}

// stalls are the shards that stall, of those whose owners are known.
type stalls struct {
	mu     sync.Mutex
	owners map[int]*supervisor.Owner
	found  map[int]time.Time // since when
}

// own notes the owner of a shard, or that it has none at the moment.
func (s *stalls) own(shard int, owner *supervisor.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners, s.found = map[int]*supervisor.Owner{}, map[int]time.Time{}
	}
	delete(s.found, shard)
	if delete(s.owners, shard); owner != nil {
		s.owners[shard] = owner
	}
}

// look looks at every owner, and calls tell for a shard that stalls now and did not at the last look.
func (s *stalls) look(now time.Time, tell func(shard int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, owner := range s.owners {
		since, stalled := owner.Stalled(now)
		if !stalled {
			delete(s.found, shard)
			continue
		}
		if _, known := s.found[shard]; !known {
			s.found[shard] = since
			tell(shard)
		}
	}
}

// list lists the shards that stall, by number.
func (s *stalls) list() []shardStall {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := make([]shardStall, 0, len(s.found))
	for shard, since := range s.found {
		listed = append(listed, shardStall{shard, since})
	}
	slices.SortFunc(listed, func(a, b shardStall) int { return a.Shard - b.Shard })
	return listed
}

// watchStalls looks for shards that stall until ctx ends, and tells the log of each.
func (s *Service) watchStalls(ctx context.Context) error {
	backoff.Every(ctx, lookForStallsEvery, func() {
		s.stalls.look(time.Now(), func(shard int) {
			s.log.Error().Int("shard", shard).Dur("after", supervisor.StalledAfter).
				Msg("a shard decides nothing although inputs wait; /healthz answers 503 until it does")
		})
	})
	return nil
}
