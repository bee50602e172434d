// Package registry knows which agents there are: [ServeAgents] answers the core services
// by which they announce themselves and reach their artifacts, [List] says how each is, and
// [PresenceOf] looks whether anybody serves one.
//
// Each process of an agent has an entry of its own. What the configuration says of an agent holds over
// what its processes say (see [Configure]), and the differences are told. Which agent asks is decided
// by the subject, never by the body. It does not decide what an agent is asked to do, but [Standing]
// says whom nobody may ask.
package registry

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

const (
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
	// Standing, unless nil, is told how the agents are.
	Standing *Standing
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
	if config.Standing == nil {
		config.Standing = NewStanding()
	}
	r := registry{store: core.KeyValue(bus.AgentBucket), clock: config.Clock, reserved: config.Reserved, quota: config.Quota, standing: config.Standing}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err = r.open(ctx); err != nil {
		return nil, err
	}
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
			if config.Standing.Revoked(parsed.Agent) {
				return nil, &bus.RefusedError{Reason: "agent " + parsed.Agent + " is revoked; whoever runs the instance can take it in again: podium agents add " + parsed.Agent}
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
	standing *Standing
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
