package registry

import (
	"context"
	"fmt"

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
