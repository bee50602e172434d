package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"podium/bus"
	"podium/bus/embedded"
	"podium/bus/keyring"
	"podium/cmd/podium/installation"
	"podium/cmd/podium/lease"
	"podium/supervisor"
)

// openLedger opens the ledger. One on a server of its own is waited for, and held
// against other processes before anything is written.
func (s *Service) openLedger(ctx context.Context) (err error) {
	settings := s.settings.Ledger
	open := func(ctx context.Context) (err error) {
		s.Ledger, err = installation.OpenLedger(ctx, settings, s.settings.AgentNames(false), s.settings.AgentNames(true), s.log)
		return err
	}
	if settings.NATS == nil {
		if err = open(ctx); err != nil {
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
	if err = s.patience.until(ctx, open); err != nil {
		return err
	}
	if err = s.settleDurability(ctx); err != nil {
		return err
	}
	self, leases := lease.Myself(settings.Data, lock), s.Ledger.Core.KeyValue(bus.LeaseBucket)
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

// explainWait bounds the look at who it was.
const explainWait = 2 * time.Second

// explain adds who it was to the error of a shard that another process has taken.
func (s *Service) explain(ctx context.Context, err error) error {
	if s.lease == nil || !errors.Is(err, supervisor.ErrNotOwner) {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), explainWait)
	defer stop()
	if lost := s.lease.Check(ctx); lost != nil {
		return errors.Join(err, lost)
	}
	return err
}

// openKeys reads the keys of the ledger. It may be repeated.
func (s *Service) openKeys(ctx context.Context) (err error) {
	if s.keys != nil {
		return nil
	}
	var copied keyring.Copy // another process of a ledger on a server of its own makes keys, too
	if s.Ledger.Server != nil {
		copied = installation.GrantsCopy{Data: s.Ledger.Data}
	}
	s.keys, err = keyring.OpenCopied(ctx, s.Ledger.Core, copied, time.Now())
	if errors.Is(err, keyring.ErrKeysLost) {
		return fmt.Errorf("%w: grants of artifacts, tokens of callbacks and pseudonyms that were given out would be void. Restore %s from a backup; "+
			"or give them up, and the next start makes another: podium ledger renew grants.json --data %s",
			err, filepath.Join(installation.CredentialsDir(s.Ledger.Data), "grants.json"), s.Ledger.Data)
	}
	return err
}

// Pseudonym is what stands in the log for an address or an id: see [keyring.Ring.Pseudonym].
func (s *Service) Pseudonym(value string) string { return s.keys.Pseudonym(value) }
