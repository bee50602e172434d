package registry

import (
	"context"
	"errors"
	"time"

	"podium/bus"
)

// AliveWithin is how old the newest sign of life of an agent may be while it
// counts as served: three of its heartbeats.
const AliveWithin = 3 * bus.DefaultHeartbeat

// A Presence says whether anybody serves an agent.
type Presence struct {
	Served   bool
	LastSeen time.Time // the newest sign of life, as far as is known; zero is never
}

// PresenceOf looks whether anybody serves an agent: a process of it has told the
// registry so within AliveWithin, or waits for requests, or has taken or
// acknowledged one within it. An agent that never announces itself counts by what
// it does.
func PresenceOf(ctx context.Context, core bus.Core, agent string, now time.Time) (Presence, error) {
	var entry Entry
	var err error
	if entry.Instances, err = Instances(ctx, core, agent); err != nil {
		return Presence{}, err
	}
	if presence := entry.Presence(now); presence.Served {
		return presence, nil
	}
	pool, err := core.PoolState(ctx, agent)
	switch {
	case err == nil:
		entry.Pool = &pool
	case !errors.Is(err, bus.ErrNotFound): // else nobody can wait for its requests
		return Presence{}, err
	}
	return entry.Presence(now), nil
}

// Presence says whether anybody serves the agent, as PresenceOf does.
func (e *Entry) Presence(now time.Time) Presence {
	var presence Presence
	for i := range e.Instances {
		if seen := e.Instances[i].LastSeen; seen.After(presence.LastSeen) {
			presence.LastSeen = seen
		}
	}
	presence.Served = alive(presence.LastSeen, now)
	if presence.Served || e.Pool == nil {
		return presence
	}
	if e.Pool.Last.After(presence.LastSeen) {
		presence.LastSeen = e.Pool.Last
	}
	presence.Served = e.Pool.Waiting > 0 || alive(e.Pool.Last, now)
	return presence
}

// Alive counts the processes that have given a sign of life lately.
func (e *Entry) Alive(now time.Time) (count int) {
	for i := range e.Instances {
		if alive(e.Instances[i].LastSeen, now) {
			count++
		}
	}
	return count
}

func alive(seen, now time.Time) bool { return !seen.IsZero() && now.Sub(seen) <= AliveWithin }
