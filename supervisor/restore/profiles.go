package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/plan"
)

// Profiles holds the profiles in force by name, and every profile that a run
// has pinned by hash. It is safe for use by several goroutines.
type Profiles struct {
	artifacts bus.Artifacts
	recorded  *Profiles // and replace: see Replaced
	replace   func(*plan.Profile) (*plan.Profile, error)

	mu      sync.Mutex
	current map[string]*plan.Profile
	byHash  map[string]*plan.Profile
}

// NewProfiles compiles the profiles in force and keeps a copy of each in the
// object store, so that a run which pins one can always be decided again.
func NewProfiles(ctx context.Context, artifacts bus.Artifacts, sources []schemas.Profile) (*Profiles, error) {
	profiles := &Profiles{artifacts: artifacts, current: map[string]*plan.Profile{}, byHash: map[string]*plan.Profile{}}
	return profiles, profiles.Replace(ctx, sources)
}

// Replace brings profiles into force in place of those of the same names: all of them, or none after an error. Runs
// that are under way keep the one that they have pinned.
func (p *Profiles) Replace(ctx context.Context, sources []schemas.Profile) error {
	made := make([]*plan.Profile, len(sources))
	for i := range sources {
		compiled, err := plan.Compile(sources[i])
		if err != nil {
			return err
		}
		body, err := schemas.Marshal(sources[i])
		if err != nil {
			return err
		}
		if _, err = p.artifacts.Put(ctx, bytes.NewReader(body), schemas.MediaTypeJSON); err != nil {
			return fmt.Errorf("store profile %q: %w", sources[i].Name, err)
		}
		made[i] = compiled
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, compiled := range made {
		p.current[compiled.Name], p.byHash[compiled.Hash] = compiled, compiled
	}
	return nil
}

// Replaced returns profiles that have, under each hash, what replace makes of the profile of that hash, anew each time. They
// store nothing.
func (p *Profiles) Replaced(replace func(*plan.Profile) (*plan.Profile, error)) *Profiles {
	return &Profiles{recorded: p, replace: replace, current: map[string]*plan.Profile{}, byHash: map[string]*plan.Profile{}}
}

// Current returns the profile in force of that name, or nil.
func (p *Profiles) Current(name string) *plan.Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current[name]
}

// Pinned returns a profile by hash if it has been fetched, or nil.
func (p *Profiles) Pinned(hash string) *plan.Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byHash[hash]
}

// Fetch returns a profile by hash, from the object store if need be.
func (p *Profiles) Fetch(ctx context.Context, hash string) (*plan.Profile, error) {
	if known := p.Pinned(hash); known != nil {
		return known, nil
	}
	compiled, err := p.read(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", hash, err)
	}
	compiled.Hash = hash
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byHash[hash] = compiled
	return compiled, nil
}

func (p *Profiles) read(ctx context.Context, hash string) (*plan.Profile, error) {
	if p.recorded != nil {
		recorded, err := p.recorded.Fetch(ctx, hash)
		if err != nil {
			return nil, err
		}
		return p.replace(recorded)
	}
	r, err := p.artifacts.Get(ctx, schemas.Artifact{SHA256: hash})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	var source schemas.Profile
	if err = schemas.Unmarshal(body, &source); err != nil {
		return nil, err
	}
	return plan.Compile(source)
}
