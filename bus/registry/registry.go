// Package registry knows which agents there are: [ServeAgents] answers the core services
// by which they announce themselves and reach their artifacts, [Agents] lists them, and
// [PresenceOf] looks whether anybody serves one.
//
// Which agent asks is decided by the subject, never by the body. It does not decide what
// an agent is asked to do.
package registry

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

const (
	// announceLimit is the size in bytes of the largest announcement.
	announceLimit = 64 << 10
	// openTimeout bounds the wait for what the services need of the ledger.
	openTimeout = 30 * time.Second
)

// A Reservation keeps an agent for one process: whoever announces it without the
// word that the process has is refused.
type Reservation struct {
	Agent    string
	Instance string // the word: of schemas.Agent.Instance, which nobody else knows
}

// A Quota bounds what an agent has the core keep. What it refuses may be asked for
// again later: its errors are temporary.
type Quota interface {
	// Heartbeat decides about an announcement or a sign of life.
	Heartbeat(agent string) error
	// Partial decides about text of so many bytes that comes before its result.
	Partial(agent string, size int64) error
	artifact.Quota
}

// AgentServices says how to serve agents.
type AgentServices struct {
	Clock    func() time.Time
	Reserved []Reservation
	Quota    Quota // nil bounds nothing
	// Partial takes what an agent says of a result that is still to come: a schemas.Partial. Nil takes nothing.
	Partial func(agent string, body []byte) error
}

// ServeAgents answers the core services of all agents: announce and alive keep
// the registry in AgentBucket, artifact opens the object store to whoever has a
// grant. Which agent asks is decided by the subject, never by the body. The context
// bounds the opening. Stop waits for answers under way.
func ServeAgents(ctx context.Context, core bus.Core, config AgentServices) (stop func(), err error) {
	if config.Quota == nil {
		config.Quota = unbounded{}
	}
	r := registry{store: core.KeyValue(bus.AgentBucket), clock: config.Clock, reserved: config.Reserved, quota: config.Quota}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	grants, err := artifact.OpenGrants(ctx, core, config.Clock())
	if err != nil {
		return nil, err
	}
	artifacts := artifact.NewService(core.Artifacts(), grants, config.Clock, config.Quota)
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for _, service := range []struct {
		name   string
		answer func(ctx context.Context, agent string, body []byte) ([]byte, error)
	}{{bus.ServiceAnnounce, r.announce}, {bus.ServiceAlive, r.alive}, {bus.ServiceArtifact, artifacts.Answer}, {bus.ServicePartial, config.partial}} {
		s, err := core.Serve(bus.ServiceSubject("*", service.name), func(ctx context.Context, subject string, body []byte) ([]byte, error) {
			parsed, err := bus.ParseSubject(subject)
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

// maxPartial is the size in bytes of the largest message of text that comes before its result: each byte may be escaped.
const maxPartial = 8 * schemas.MaxPartial

func (c *AgentServices) partial(_ context.Context, agent string, body []byte) ([]byte, error) {
	if len(body) > maxPartial {
		return nil, fmt.Errorf("a partial of %s: %w", agent, bus.ErrTooLarge)
	}
	if err := c.Quota.Partial(agent, int64(len(body))); err != nil || c.Partial == nil {
		return nil, err
	}
	return nil, c.Partial(agent, body)
}

// unbounded is no quota.
type unbounded struct{}

func (unbounded) Heartbeat(string) error      { return nil }
func (unbounded) Partial(string, int64) error { return nil }
func (unbounded) Store(string, int64) error   { return nil }

type registry struct {
	store    bus.KeyValue
	clock    func() time.Time
	reserved []Reservation
	quota    Quota
}

// refuses says why an agent may not be announced by a process; nil when it may.
func (r registry) refuses(agent, instance string) error {
	for i := range r.reserved {
		if r.reserved[i].Agent == agent && subtle.ConstantTimeCompare([]byte(r.reserved[i].Instance), []byte(instance)) != 1 {
			return &bus.RefusedError{Reason: "agent " + agent + " is served by the running instance itself, and by nobody else: " +
				"choose another name, or have it served elsewhere alone, as {kind: external} in podium.yaml"}
		}
	}
	return nil
}

func (r registry) announce(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if err := r.quota.Heartbeat(agent); err != nil {
		return nil, err
	}
	if len(body) > announceLimit {
		return nil, fmt.Errorf("the announcement of %s: %w", agent, bus.ErrTooLarge)
	}
	var entry schemas.Agent
	if err := schemas.Unmarshal(body, &entry); err != nil {
		return nil, fmt.Errorf("the announcement of %s is not a description of an agent", agent)
	}
	if err := r.refuses(agent, entry.Instance); err != nil {
		return nil, err
	}
	entry.Instance = "" // it stays a secret
	now := r.clock().UTC()
	entry.Name, entry.Announced, entry.LastSeen = agent, now, now
	entry.Breaker = nil // not the agent's to say
	kept, err := schemas.Marshal(entry)
	if err != nil {
		return nil, err
	}
	_, err = r.store.Put(ctx, agent, kept)
	return nil, err
}

func (r registry) alive(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if err := r.quota.Heartbeat(agent); err != nil {
		return nil, err
	}
	if err := r.refuses(agent, string(body)); err != nil {
		return nil, err
	}
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
	if errors.Is(err, bus.ErrConflict) { // another process of the agent was seen just now
		return nil, nil
	}
	return nil, err
}

// breakerPrefix begins the keys of AgentBucket that hold breakers. No agent's name
// holds a dot, so that keys with one are not entries of the registry.
const breakerPrefix = "breaker."

// BreakerKey is the key in AgentBucket of an agent's circuit breaker, which is a
// schemas.Breaker (M-28).
func BreakerKey(agent string) string { return breakerPrefix + agent }

// BreakerAgent returns the agent whose breaker a key of AgentBucket holds; false
// when it is another key.
func BreakerAgent(key string) (agent string, ok bool) {
	agent, ok = strings.CutPrefix(key, breakerPrefix)
	return agent, ok && schemas.ValidAgentName(agent)
}

// Agents returns, in order of name, the agents that have announced themselves, and
// those that have a breaker although they never have: of these nothing but name
// and breaker is known. Every breaker says its state.
func Agents(ctx context.Context, core bus.Core) ([]schemas.Agent, error) {
	store := core.KeyValue(bus.AgentBucket)
	keys, err := store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the agents: %w", err)
	}
	known := map[string]*schemas.Agent{}
	for _, key := range keys {
		name, isBreaker := strings.CutPrefix(key, breakerPrefix)
		if !schemas.ValidAgentName(name) {
			continue // somebody else's
		}
		kept, _, err := store.Get(ctx, key)
		if errors.Is(err, bus.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the agent %s: %w", name, err)
		}
		agent := known[name]
		if agent == nil {
			agent = &schemas.Agent{Name: name, Breaker: &schemas.Breaker{State: schemas.BreakerClosed}}
			known[name] = agent
		}
		if isBreaker {
			err = schemas.Unmarshal(kept, agent.Breaker)
		} else {
			err = schemas.Unmarshal(kept, agent)
		}
		if err != nil {
			return nil, fmt.Errorf("read the agent %s: %w", name, err)
		}
	}
	agents := make([]schemas.Agent, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		agents = append(agents, *known[name])
	}
	return agents, nil
}
