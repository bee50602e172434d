package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/schemas"
)

// announceLimit is the size in bytes of the largest announcement.
const announceLimit = 64 << 10

// ServeAgents answers the core services of all agents: announce and alive keep
// the registry in AgentBucket, artifact opens the object store. Which agent asks
// is decided by the subject, never by the body. Stop waits for answers under way.
func ServeAgents(core Core, clock func() time.Time) (stop func(), err error) {
	r := registry{store: core.Store(AgentBucket), clock: clock}
	artifacts := newArtifactService(core.Artifacts())
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, service := range []struct {
		name   string
		answer func(ctx context.Context, agent string, body []byte) ([]byte, error)
	}{{ServiceAnnounce, r.announce}, {ServiceAlive, r.alive}, {ServiceArtifact, artifacts.answer}} {
		s, err := core.Serve(ServiceSubject("*", service.name), func(ctx context.Context, subject string, body []byte) ([]byte, error) {
			parsed, err := ParseSubject(subject)
			if err != nil {
				return nil, err
			}
			return service.answer(ctx, parsed.Agent, body)
		})
		if err != nil {
			stop()
			return nil, fmt.Errorf("serve %s: %w", service.name, err)
		}
		stops = append(stops, s)
	}
	return stop, nil
}

type registry struct {
	store Store
	clock func() time.Time
}

func (r registry) announce(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if len(body) > announceLimit {
		return nil, fmt.Errorf("the announcement of %s: %w", agent, ErrTooLarge)
	}
	var entry schemas.Agent
	if err := schemas.Unmarshal(body, &entry); err != nil {
		return nil, fmt.Errorf("the announcement of %s is not a description of an agent", agent)
	}
	now := r.clock().UTC()
	entry.Name, entry.Announced, entry.LastSeen = agent, now, now
	kept, err := schemas.Marshal(entry)
	if err != nil {
		return nil, err
	}
	_, err = r.store.Put(ctx, agent, kept)
	return nil, err
}

func (r registry) alive(ctx context.Context, agent string, _ []byte) ([]byte, error) {
	kept, revision, err := r.store.Get(ctx, agent)
	if err != nil {
		return nil, fmt.Errorf("agent %s has not announced itself: %w", agent, err)
	}
	var entry schemas.Agent
	if err := schemas.Unmarshal(kept, &entry); err != nil {
		return nil, err
	}
	entry.LastSeen = r.clock().UTC()
	if kept, err = schemas.Marshal(entry); err != nil {
		return nil, err
	}
	_, err = r.store.Update(ctx, agent, kept, revision)
	if errors.Is(err, ErrConflict) { // another process of the agent was seen just now
		return nil, nil
	}
	return nil, err
}

// Agents returns the registry in order of name.
func Agents(ctx context.Context, core Core) ([]schemas.Agent, error) {
	store := core.Store(AgentBucket)
	names, err := store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the agents: %w", err)
	}
	agents := make([]schemas.Agent, 0, len(names))
	for _, name := range names {
		kept, _, err := store.Get(ctx, name)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the agent %s: %w", name, err)
		}
		var agent schemas.Agent
		if err := schemas.Unmarshal(kept, &agent); err != nil {
			return nil, fmt.Errorf("read the agent %s: %w", name, err)
		}
		agents = append(agents, agent)
	}
	return agents, nil
}
