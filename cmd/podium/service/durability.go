package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"podium/bus/backoff"
	"podium/bus/jetstream"
	"podium/cmd/podium/config"
)

// alwaysSync is what a server's configuration needs, so that power loss takes nothing.
const alwaysSync = "jetstream { sync_interval: always }"

// durabilityUnknown is the durability of a server that does not say how it syncs.
const durabilityUnknown config.Durability = "unknown"

// lookEvery is the time between two looks at how the servers sync: an operator may
// have changed it and restarted them.
const lookEvery = time.Minute

// Durability is what an acknowledged message survives, as far as that is known.
type Durability struct {
	Durability config.Durability `json:"durability"` // or "unknown"
	Promise    string            `json:"promise"`    // a sentence for people
}

// ownDurability is that of an embedded ledger, which does as it is told.
func ownDurability(durability config.Durability) Durability {
	if durability == config.DurabilityInterval {
		return Durability{durability, fmt.Sprintf("what was acknowledged survives a crash of the process; of the last %s it may be lost with the power (durability: interval)",
			jetstream.DefaultSyncInterval)}
	}
	return Durability{durability, "what was acknowledged survives power loss (durability: fsync)"}
}

// durabilityOf says what the settings of the ledger's servers mean.
func durabilityOf(seen jetstream.Syncing) Durability {
	switch {
	case seen.Always():
		return Durability{config.DurabilityFsync, "what was acknowledged survives power loss (the server's sync_interval is always)"}
	case seen.Interval > 0:
		return Durability{config.DurabilityInterval, fmt.Sprintf("what was acknowledged survives a crash of the server; of the last %s it may be lost with the power "+
			"(the server's sync_interval). To lose nothing, put %s into its configuration and restart it", seen.Interval, alwaysSync)}
	case seen.Seen > 0:
		return Durability{durabilityUnknown, fmt.Sprintf("%d of %d servers sync before they acknowledge; of the others that cannot be seen: unless their configuration says "+
			"%s, they sync every %s only, and what came since may be lost with the power", seen.Seen, seen.Servers, alwaysSync, jetstream.DefaultSyncInterval)}
	}
	return Durability{durabilityUnknown, fmt.Sprintf("whether what was acknowledged survives power loss cannot be seen from the core account: unless its configuration says "+
		"%s, a NATS server syncs every %s only, and what came since may be lost with the power. ledger.nats.monitoring names where Podium can look", alwaysSync, jetstream.DefaultSyncInterval)}
}

// look finds out what the ledger's servers promise, as far as they let it be seen.
func (s *Service) look(ctx context.Context) Durability {
	if s.settings.Ledger.NATS == nil {
		return ownDurability(s.settings.Ledger.Durability)
	}
	seen, err := s.Ledger.Core.Syncing(ctx, s.settings.Ledger.NATS.MonitoringURLs()...)
	if err != nil {
		s.log.Warn().Str("reason", strings.ReplaceAll(err.Error(), "\n", "; ")).Msg("a monitoring endpoint of ledger.nats.monitoring is of no use")
	}
	return durabilityOf(seen)
}

// settleDurability looks for the first time, and refuses a server that is seen to
// promise less than the configuration asks for.
func (s *Service) settleDurability(ctx context.Context) error {
	found := s.look(ctx)
	s.noteDurability(found)
	if s.settings.Ledger.NATS != nil && s.settings.Ledger.Durability == config.DurabilityFsync && found.Durability == config.DurabilityInterval {
		return fmt.Errorf("ledger.durability asks for fsync, and the server does less: %s; or take it as it is by durability: interval", found.Promise)
	}
	return nil
}

// watchDurability looks again and again until ctx ends.
func (s *Service) watchDurability(ctx context.Context, every time.Duration) error {
	backoff.Every(ctx, every, func() {
		if found := s.look(ctx); ctx.Err() == nil && found != s.Durability() {
			s.noteDurability(found)
		}
	})
	return nil
}

// noteDurability keeps what was found, and says it in the log.
func (s *Service) noteDurability(found Durability) {
	s.durability.Store(&found)
	said := s.log.Info()
	if found.Durability != config.DurabilityFsync {
		said = s.log.Warn()
	}
	said.Str("durability", string(found.Durability)).Msg(found.Promise)
}

// Durability is what is known since the last look.
func (s *Service) Durability() Durability { return *s.durability.Load() }
