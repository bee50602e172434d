package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"podium/bus"
	"podium/bus/jetstream"
	"podium/bus/registry"
	"podium/schemas"
	"podium/supervisor"
	"podium/supervisor/gateway"
	"podium/supervisor/restore"
)

// prepareConductor returns what a service does between its adapters and its agents:
// the owner of every shard, the agents' services and the forwarder.
func prepareConductor(ctx context.Context, core bus.Core, work workload, log zerolog.Logger) (func(context.Context) error, error) {
	return prepareWatched(ctx, core, work, log, func(*supervisor.Owner, int) bus.Core { return core })
}

// prepareWatched lets each owner have the ledger as seen returns it.
func prepareWatched(
	ctx context.Context, core bus.Core, work workload, log zerolog.Logger, seen func(owner *supervisor.Owner, shard int) bus.Core,
) (func(context.Context) error, error) {
	profiles, err := restore.NewProfiles(ctx, core.Artifacts(), []schemas.Profile{work.profile})
	if err != nil {
		return nil, err
	}
	services, err := registry.ServeAgents(ctx, core, registry.AgentServices{Clock: time.Now})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		defer services()
		group, running := errgroup.WithContext(ctx)
		forwarder := gateway.Forwarder{Core: core, Log: log, Supervisors: []string{conductorName}}
		group.Go(func() error { return forwarder.Run(running) })
		for shard := range core.Shards() {
			owner := supervisor.NewOwner(supervisor.Config{Shard: shard, Name: "bench", Core: core, Profiles: profiles, Log: log})
			owner.Core = seen(owner, shard)
			group.Go(func() error { return owner.Run(running) })
		}
		return group.Wait()
	}, nil
}

// openConductor conducts in a process of its own. It is ready when every owner
// has loaded the open runs that it is told to expect and has nothing under way:
// what their last records owe is published and acknowledged again, and an answer
// to any of them would be decided at once.
func openConductor(ctx context.Context, given assignment, work workload, log zerolog.Logger) (duty, error) {
	core, url, closeCore, err := coreOf(ctx, given, log)
	if err != nil {
		return duty{}, err
	}
	ready := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(core.Shards()))
	conduct, err := prepareWatched(ctx, core, work, log, func(owner *supervisor.Owner, shard int) bus.Core {
		seen := &watchedCore{Core: core, owner: owner, ready: func() {
			if left.Add(-1) == 0 {
				close(ready)
			}
		}}
		if len(given.Open) > 0 {
			seen.open = given.Open[shard]
		}
		return seen
	})
	if err != nil {
		return duty{}, errors.Join(err, closeCore())
	}
	return duty{url: url, ready: ready, work: func(ctx context.Context) error {
		return errors.Join(conduct(ctx), closeCore())
	}}, nil
}

// coreOf connects to a ledger, or runs one in this process.
func coreOf(ctx context.Context, given assignment, log zerolog.Logger) (core *jetstream.Core, url string, stop func() error, err error) {
	if given.URL != "" {
		core, err = jetstream.Connect(ctx, jetstream.Config{
			URL: given.URL, SeedFile: given.Seed, Name: "conductor", Shards: given.Shards, Logger: log,
		})
		return core, given.URL, func() error { core.Close(); return nil }, err
	}
	server, err := startServer(ctx, given, log)
	if err != nil {
		return nil, "", nil, err
	}
	if core, err = server.Core(ctx); err != nil {
		return nil, "", nil, errors.Join(err, server.Close())
	}
	return core, server.URL(), func() error { core.Close(); return server.Close() }, nil
}

// watchedCore is a ledger that sees when its owner is at work: an owner asks its
// reader for more as often as it has something to do, in its own goroutine.
type watchedCore struct {
	bus.Core
	owner *supervisor.Owner
	open  int
	ready func() // called once
}

// Read implements bus.Ledger.
func (c *watchedCore) Read(ctx context.Context, stream string, from uint64, subjects ...string) (bus.Reader, error) {
	reader, err := c.Core.Read(ctx, stream, from, subjects...)
	if err != nil {
		return nil, err
	}
	return &watchedReader{Reader: reader, core: c}, nil
}

// A watchedReader is the reader of a watchedCore.
type watchedReader struct {
	bus.Reader
	core *watchedCore
	said bool
}

// Next implements bus.Reader.
func (r *watchedReader) Next() (bus.Message, bool, error) {
	message, ok, err := r.Reader.Next()
	if !ok && err == nil && !r.said && r.atWork() {
		r.said = true
		r.core.ready()
	}
	return message, ok, err
}

func (r *watchedReader) atWork() bool {
	owner := r.core.owner
	return !owner.Busy() && owner.OpenSessions() >= r.core.open
}
