package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"podium/bus"
	"podium/schemas"
)

// Revoke puts on record that an agent may not take part any more. From then on nobody asks it, and nothing that it
// says is taken, whether its connections are cut or not. Standing may be nil.
func Revoke(ctx context.Context, core bus.Core, standing *Standing, agent string, revocation schemas.Revocation) error {
	kept, err := schemas.Marshal(revocation)
	if err != nil {
		return err
	}
	if standing != nil {
		standing.revoke(agent, true) // what comes before it is on record is refused as well
	}
	if _, err = core.KeyValue(bus.AgentBucket).Put(ctx, revocationPrefix+agent, kept); err != nil {
		return fmt.Errorf("revoke agent %s: %w", agent, err)
	}
	return nil
}

// ErrBreakerClosed reports that the circuit breaker of an agent is closed already.
var ErrBreakerClosed = errors.New("the circuit breaker is closed")

// resetTries bounds how often ResetBreaker begins again because the breaker has changed meanwhile.
const resetTries = 5

// ResetBreaker closes the circuit breaker of an agent for a person, and returns what it was. Supervisors that wait for the agent see it within about
// a second. It returns ErrBreakerClosed when there is nothing to close.
func ResetBreaker(ctx context.Context, core bus.Core, agent string, reset schemas.BreakerReset, now time.Time) (schemas.Breaker, error) {
	store := core.KeyValue(bus.AgentBucket)
	var before schemas.Breaker
	for range resetTries {
		body, revision, err := store.Get(ctx, BreakerKey(agent))
		if err == nil {
			before = schemas.Breaker{}
			err = schemas.Unmarshal(body, &before)
		}
		switch {
		case errors.Is(err, bus.ErrNotFound), err == nil && before.At(now) == schemas.BreakerClosed && len(before.Failures) == 0:
			return before, ErrBreakerClosed
		case err != nil:
			return before, fmt.Errorf("read the circuit breaker of agent %s: %w", agent, err)
		}
		closed, err := schemas.Marshal(schemas.Breaker{State: schemas.BreakerClosed, Since: now, Reset: &reset})
		if err != nil {
			return before, err
		}
		if _, err = store.Update(ctx, BreakerKey(agent), closed, revision); err == nil {
			return before, nil
		}
		if !errors.Is(err, bus.ErrConflict) {
			return before, fmt.Errorf("close the circuit breaker of agent %s: %w", agent, err)
		}
	}
	return before, &bus.TemporaryError{Op: "close the circuit breaker of agent " + agent, Err: bus.ErrConflict}
}

// Readmit ends that.
func Readmit(ctx context.Context, core bus.Core, standing *Standing, agent string) error {
	if err := core.KeyValue(bus.AgentBucket).Delete(ctx, revocationPrefix+agent); err != nil {
		return fmt.Errorf("take in agent %s again: %w", agent, err)
	}
	if standing != nil {
		standing.revoke(agent, false)
	}
	return nil
}

// Revocations returns the agents that are revoked, by name.
func Revocations(ctx context.Context, core bus.Core) (map[string]schemas.Revocation, error) {
	return revocations(ctx, core.KeyValue(bus.AgentBucket))
}

func revocations(ctx context.Context, store bus.KeyValue) (map[string]schemas.Revocation, error) {
	values, err := store.Below(ctx, revocationPrefix)
	if err != nil {
		return nil, fmt.Errorf("read who is revoked: %w", err)
	}
	return below[schemas.Revocation](values, revocationPrefix)
}
