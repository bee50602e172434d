package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/jetstream"
	"podium/bus/jetstream/worker"
	"podium/cmd/podium/config"
	"podium/cmd/podium/lease"
	"podium/supervisor"
)

// joinLedger opens the ledger on a server of its own, for the service.
func joinLedger(ctx context.Context, settings config.Ledger, agents []string, log zerolog.Logger) (*Ledger, error) {
	keys, err := Keys(settings, agents)
	if err != nil {
		return nil, err
	}
	core, err := jetstream.Connect(ctx, jetstream.Config{
		URL: settings.NATS.URL, SeedFile: keys.Core.SeedFile, Name: "core", Shards: settings.Shards,
		MaxBytes:   int64(settings.MaxBytes) / 2, // the shards' half
		AmendLater: true, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return &Ledger{Core: core, Data: settings.Data, url: settings.NATS.URL, seed: absolute(keys.Core.SeedFile), keys: keys, log: log}, nil
}

// Join opens the ledger on a server of its own as it is, for a verb: no instance has
// to run. It makes no keys, and nothing on the server.
func Join(ctx context.Context, settings config.Ledger, log zerolog.Logger) (*Ledger, error) {
	seed := settings.NATS.Credentials
	if seed == "" {
		seed = embedded.CoreSeedFile(CredentialsDir(settings.Data))
	}
	key, err := namedKey(seed)
	if err != nil {
		return nil, err
	}
	core, err := jetstream.Connect(ctx, jetstream.Config{
		URL: settings.NATS.URL, SeedFile: key.SeedFile, Name: "command line", Existing: true, Logger: log,
	})
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return nil, fmt.Errorf("%w on %s, in the account of %s; `podium up` makes one", ErrNoLedger, settings.NATS.Servers(), seed)
	case bus.Temporary(err):
		return nil, fmt.Errorf("the ledger on %s cannot be read now: %w; does the server run, and has its cluster a leader?", settings.NATS.Servers(), err)
	case err != nil:
		return nil, err
	}
	return &Ledger{Core: core, Data: settings.Data, url: settings.NATS.URL, seed: absolute(seed), log: log}, nil
}

// JoinWorker connects as an agent to the ledger on a server of its own, by the key
// that is named, else by the one that this installation has for it.
func JoinWorker(ctx context.Context, settings config.Ledger, seed, agent string, log zerolog.Logger) (*worker.Worker, error) {
	if seed == "" {
		seed = agentSeed(settings.NATS.Credentials, CredentialsDir(settings.Data), agent)
	}
	if !isThere(seed) {
		return nil, fmt.Errorf("%w %q: its key %s is not there; name the file with --credentials. `podium nats accounts` makes keys, of the agents in podium.yaml", ErrNoAgent, agent, seed)
	}
	return worker.Connect(ctx, worker.Config{URL: settings.NATS.URL, SeedFile: seed, Agent: agent, Logger: log})
}

// openLedger opens the ledger. One on a server of its own is waited for, and held
// against other processes before anything is written.
func (s *Service) openLedger(ctx context.Context) (err error) {
	settings := s.settings.Ledger
	if settings.NATS == nil {
		if s.Ledger, err = OpenLedger(ctx, settings, s.settings.AgentNames(false), s.settings.AgentNames(true), s.log); err != nil {
			return err
		}
		return s.settleDurability(ctx)
	}
	var lock string
	if lock, s.unlock, err = embedded.LockData(ctx, settings.Data, s.log); err != nil {
		if used, ok := errors.AsType[*embedded.InUseError](err); ok {
			return runsAlready(used.Process, settings.Data)
		}
		return err
	}
	if err = s.patience.until(ctx, func(ctx context.Context) error {
		s.Ledger, err = OpenLedger(ctx, settings, s.settings.AgentNames(false), s.settings.AgentNames(true), s.log)
		return err
	}); err != nil {
		return err
	}
	if err = s.settleDurability(ctx); err != nil {
		return err
	}
	self, leases := lease.Myself(settings.Data, lock), s.Ledger.Core.Store(bus.LeaseBucket)
	if err = s.patience.until(ctx, func(ctx context.Context) error {
		s.lease, err = lease.Take(ctx, leases, self, s.patience.held, s.log)
		return err
	}); err != nil {
		return err
	}
	return s.patience.until(ctx, s.Ledger.Core.Amend)
}

func runsAlready(process int, data string) error {
	return fmt.Errorf("process %d already runs on %s; stop it first, or choose another --data", process, data)
}

// hold returns when ctx ends, or with an error when another process has taken the
// ledger over. An embedded ledger is held by its directory's lock.
func (s *Service) hold(ctx context.Context) error {
	if s.lease == nil {
		<-ctx.Done()
		return nil
	}
	select {
	case <-s.lease.Ended():
		return s.lease.Lost()
	case <-ctx.Done():
		return nil
	}
}

// explain adds who it was to the error of a shard that another process has taken.
func (s *Service) explain(ctx context.Context, err error) error {
	if s.lease == nil || !errors.Is(err, supervisor.ErrNotOwner) {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
	defer stop()
	if lost := s.lease.Check(ctx); lost != nil {
		return errors.Join(err, lost)
	}
	return err
}
