package imap

import (
	"context"
	"fmt"
	"time"
)

const (
	commitDeadline = 5 * time.Second // also of a flush, once the adapter is being stopped
	flushDeadline  = time.Minute
)

// commit writes the ledger, also when the adapter is being stopped: what was published is
// then not offered again. It survives a loss of power when commit returns; the events that
// it names are to be flushed before.
func (s *session) commit(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitDeadline)
	defer cancel()
	s.flushed = false
	if err := s.ledger.Commit(bounded); err != nil {
		return fmt.Errorf("%w: %w", errLedger, err)
	}
	return s.flush(ctx)
}

// flush makes what was published and noted survive a loss of power.
func (s *session) flush(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushDeadline)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(commitDeadline, cancel) })
	defer stop()
	if err := s.adapter.dependencies.Core.Flush(bounded); err != nil {
		return fmt.Errorf("%w: %w", errLedger, err)
	}
	s.flushed = true
	return nil
}
