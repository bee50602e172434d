package registry

import (
	"context"
	"errors"
	"time"

	"podium/bus"
	"podium/schemas"
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
	var presence Presence
	kept, _, err := core.KeyValue(bus.AgentBucket).Get(ctx, agent)
	switch {
	case err == nil:
		var entry schemas.Agent
		if err = schemas.Unmarshal(kept, &entry); err != nil {
			return presence, err
		}
		presence.LastSeen = entry.LastSeen
	case !errors.Is(err, bus.ErrNotFound):
		return presence, err
	}
	if presence.Served = alive(presence.LastSeen, now); presence.Served {
		return presence, nil
	}
	pool, err := core.PoolState(ctx, agent)
	if errors.Is(err, bus.ErrNotFound) {
		return presence, nil // nobody can wait for its requests
	}
	if err != nil {
		return presence, err
	}
	if pool.Last.After(presence.LastSeen) {
		presence.LastSeen = pool.Last
	}
	presence.Served = pool.Waiting > 0 || alive(pool.Last, now)
	return presence, nil
}

func alive(seen, now time.Time) bool { return !seen.IsZero() && now.Sub(seen) <= AliveWithin }
