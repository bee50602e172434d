package embedded

import (
	"context"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"podium/bus/backoff"
	"podium/bus/embedded/recovery"
)

const (
	markEvery  = 5 * time.Second // what may be lost unseen with the end of a stream, after a crash
	flushEvery = 12              // of those, at Interval
)

// keepMarks notes how far the streams go, until ctx ends. At Interval it flushes them now
// and then: of what was flushed, a loss of power explains no loss.
func (s *Server) keepMarks(ctx context.Context) {
	turn := 0
	backoff.Every(ctx, markEvery, func() {
		turn++
		if err := s.mark(ctx, turn%flushEvery == 0); err != nil && ctx.Err() == nil {
			s.config.Logger.Error().Err(err).Msg("how far the ledger goes cannot be noted")
		}
	})
}

func (s *Server) mark(ctx context.Context, flush bool) error {
	last, err := s.lastSequences()
	if err != nil {
		return nil //nolint:nilerr // the server is stopping
	}
	if flush = flush && s.config.Durability == Interval; flush {
		if err = s.recovery.Flusher().Flush(ctx); err != nil {
			return err
		}
	}
	return s.recovery.Mark(last, flush)
}

// lastSequences returns the last of each stream.
func (s *Server) lastSequences() (map[string]uint64, error) {
	if s.server == nil {
		return nil, errRestarting
	}
	state, err := s.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		return nil, err
	}
	last := map[string]uint64{}
	for _, account := range state.AccountDetails {
		for i := range account.Streams {
			last[account.Streams[i].Name] = account.Streams[i].State.LastSeq
		}
	}
	return last, nil
}

// Losses returns what the ledger has lost over its life, as far as it was seen.
func (s *Server) Losses() []recovery.Loss {
	if s.recovery == nil {
		return s.lost
	}
	return s.recovery.Losses()
}
