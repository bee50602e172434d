package registry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"podium/bus"
	"podium/schemas"
)

// A Standing is what the process that serves the agents knows of them at this moment, without asking the
// ledger. It is safe for use by several goroutines at once.
type Standing struct {
	mu     sync.Mutex
	agents map[string]*agentStanding
}

type agentStanding struct {
	revoked   bool
	instances map[string]instanceStanding // by id
}

type instanceStanding struct {
	seen  time.Time
	asked bool
}

// NewStanding knows of nobody; ServeAgents fills it.
func NewStanding() *Standing { return &Standing{agents: map[string]*agentStanding{}} }

// Barred reports whether nobody is to ask an agent: it is revoked, or every process that serves it says
// that it cannot do the work. Where nobody serves it, requests wait for whoever comes.
func (s *Standing) Barred(agent string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.agents[agent]
	if known == nil {
		return false
	}
	served := false
	for _, one := range known.instances {
		if alive(one.seen, now) {
			if one.asked {
				return known.revoked
			}
			served = true
		}
	}
	return served || known.revoked
}

// Revoked reports whether an agent is revoked.
func (s *Standing) Revoked(agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.agents[agent]
	return known != nil && known.revoked
}

func (s *Standing) of(agent string) *agentStanding {
	known := s.agents[agent]
	if known == nil {
		known = &agentStanding{instances: map[string]instanceStanding{}}
		s.agents[agent] = known
	}
	return known
}

func (s *Standing) seen(entry *schemas.Agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(entry.Name).instances[entry.ID] = instanceStanding{seen: entry.LastSeen, asked: entry.Health == nil || entry.Health.Answers}
}

// A process is one of an agent, and when it was last seen.
type process struct {
	id   string
	seen time.Time
}

// processes returns those of an agent, in no order.
func (s *Standing) processes(agent string) []process {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make([]process, 0, len(s.of(agent).instances))
	for id, one := range s.of(agent).instances {
		known = append(known, process{id, one.seen})
	}
	return known
}

func (s *Standing) gone(agent, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of(agent).instances, id)
}

func (s *Standing) revoke(agent string, revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(agent).revoked = revoked
}

// load reads what the ledger knows.
func (s *Standing) load(ctx context.Context, store bus.KeyValue) error {
	values, err := store.Below(ctx, instancePrefix)
	if err != nil {
		return fmt.Errorf("read the registry: %w", err)
	}
	known, err := readInstances(values)
	if err != nil {
		return err
	}
	for _, entries := range known {
		for i := range entries {
			s.seen(&entries[i])
		}
	}
	revoked, err := revocations(ctx, store)
	for agent := range revoked {
		s.revoke(agent, true)
	}
	return err
}
