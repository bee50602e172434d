package service

import (
	"context"
	"time"

	"podium/bus/backoff"
	"podium/bus/gate"
	"podium/bus/intake"
	"podium/bus/registry"
	"podium/cmd/podium/config"
	"podium/cmd/podium/ledgerwatch"
)

// gateShare is the percentage of a shard's limit at which external agents may only
// end what was begun. It is below the one at which intake is refused: what agents say
// never takes the room of what people say.
const gateShare = ledgerwatch.NearlyFull

// usageWait bounds how long the gate waits to hear how full the ledger is.
const usageWait = 2 * time.Second

// admitAgents answers the services of agents, and lets external ones publish, from now
// on: they may have waited for it. Run ends that, or else the ledger's end does.
func (s *Service) admitAgents(ctx context.Context) (err error) {
	if s.closeServices == nil {
		s.closeServices, err = registry.ServeAgents(ctx, s.Ledger.Core, registry.AgentServices{
			Clock: time.Now, Reserved: s.reservations(), Quota: externalQuota{s.gate, func(agent string) bool { return s.agentOf(agent).Kind == config.KindExternal }}, Standing: s.standing, Partial: s.partials.Take,
		})
	}
	if err != nil || s.openedGate != nil {
		return err
	}
	external, err := s.keepOut(ctx)
	if err == nil {
		s.openedGate, err = s.Ledger.Core.OpenGate(ctx, s.gate, external)
	}
	return err
}

// newGate returns what decides how much external agents may publish.
func (s *Service) newGate() *gate.Gate {
	used := intake.NewUsage(s.Ledger.Core)
	full := func(shard int) bool {
		if shard < 0 {
			return false // the work stream forgets what is old
		}
		ctx, cancel := context.WithTimeout(context.Background(), usageWait)
		defer cancel()
		fill, err := used.Shard(ctx, shard)
		return err == nil && fill.Share() >= gateShare // who cannot be heard is not full
	}
	opened := gate.New(time.Now, full, s.log)
	opened.LimitStore(func() (float64, int64) {
		ctx, cancel := context.WithTimeout(context.Background(), usageWait)
		defer cancel()
		fill, limit, err := used.Artifacts(ctx)
		if err != nil {
			return 0, 0 // who cannot be heard is not full
		}
		return fill.Share(), limit
	})
	return opened
}

const (
	// removeArtifactsEvery is how often the store is looked through for artifacts to which no answer refers.
	removeArtifactsEvery = time.Hour
	// keepUnreferenced is how long such an artifact stays after it was put last, besides the time that work may take: an
	// agent may put a file long before it answers.
	keepUnreferenced = 24 * time.Hour
)

// removeArtifacts removes artifacts that agents have put and to which no answer has referred, until ctx ends.
func (s *Service) removeArtifacts(ctx context.Context) error {
	age := keepUnreferenced + s.longestWork()
	backoff.Every(ctx, removeArtifactsEvery, func() {
		switch removed, err := s.Ledger.Core.Artifacts().RemovePending(ctx, time.Now().Add(-age)); {
		case err != nil && ctx.Err() == nil:
			s.log.Warn().Err(err).Msg("artifacts to which no answer refers are not removed yet; it is tried again in an hour")
		case removed > 0:
			s.log.Info().Int("artifacts", removed).Msg("artifacts to which no answer refers are removed")
		}
	})
	return nil
}

// longestWork is the longest time that the profiles give an agent for its work.
func (s *Service) longestWork() time.Duration {
	longest := time.Duration(0)
	for _, profile := range s.profiles() {
		longest = max(longest, time.Duration(profile.Deadlines.Work))
		for i := range profile.Agents {
			longest = max(longest, time.Duration(profile.Agents[i].Work))
		}
	}
	return longest
}

// externalQuota bounds what external agents have the core keep, and nobody else.
type externalQuota struct {
	gate     *gate.Gate
	external func(agent string) bool
}

func (q externalQuota) Heartbeat(agent string) error {
	if !q.external(agent) {
		return nil
	}
	return q.gate.Heartbeat(agent)
}

func (q externalQuota) Partial(agent string, size int64) error {
	if !q.external(agent) {
		return nil
	}
	return q.gate.Partial(agent, size)
}

func (q externalQuota) Store(agent string, size int64) error {
	if !q.external(agent) {
		return nil
	}
	return q.gate.Store(agent, size)
}
