package imap

import (
	"context"
	"errors"
	"fmt"

	"podium/bus"
	"podium/ingest/imap/mailbox"
	"podium/schemas"
)

// publish deals with a batch in the order of UIDs and ends before the first message
// that is missing. Events go out in that order, those of one conversation each when
// the ledger has the one before. After one that failed nothing is noted, though the
// ledger may have some: they are offered again under the same ids.
func (s *session) publish(ctx context.Context, b *batch) error {
	reached := b.reached()
	prepared, err := s.prepareAll(ctx, reached, b.outcomes)
	if err != nil {
		return err
	}
	submitted, err := s.submit(ctx, prepared)
	if err != nil {
		return err
	}
	for i, uid := range reached {
		switch one := b.outcomes[uid]; one.kind {
		case outcomeVanished:
			s.ledger.Settle(uid, mailbox.DispositionVanished)
		case outcomeOld:
			s.ledger.Settle(uid, mailbox.DispositionOld)
		case outcomeFailed:
			s.fail(uid, one.reason, false)
		case outcomeFetched:
			if err := s.note(uid, one, prepared[i] != nil, submitted[i]); err != nil {
				return err
			}
			if prepared[i] != nil && submitted[i] == nil {
				s.tell(uid, one, prepared[i])
			}
		}
	}
	return nil
}

// tell says that a mail was taken, without saying whose it is to anybody who does not know already.
func (s *session) tell(uid uint32, one *outcome, event *schemas.Event) {
	said := s.adapter.log.Debug().Uint32("uid", uid).Str("session", event.Session())
	if s.adapter.dependencies.Pseudonym != nil && one.sender != "" {
		said = said.Str("sender", s.adapter.dependencies.Pseudonym(one.sender))
	}
	said.Msg("a mail is taken")
}

// submit puts events on the ledger and returns what became of each. Nothing is to be noted
// of them before they survive a loss of power: the entry that says so may survive it.
func (s *session) submit(ctx context.Context, prepared []*schemas.Event) ([]error, error) {
	var events []schemas.Event
	var places []int
	for i, event := range prepared {
		if event != nil {
			events, places = append(events, *event), append(places, i)
		}
	}
	failed := make([]error, len(prepared))
	if len(events) == 0 {
		return failed, nil
	}
	for n, submitted := range s.adapter.dependencies.Intake.SubmitAll(ctx, mailbox.AdapterName, events) {
		failed[places[n]] = submitted.Err
	}
	return failed, s.flush(ctx)
}

// note keeps what became of a message that was fetched.
func (s *session) note(uid uint32, one *outcome, published bool, err error) error {
	p := &s.ledger.Cursor
	switch {
	case !one.canary.IsZero():
		s.ledger.Settle(uid, mailbox.DispositionCanary)
		p.Canaries = append(p.Canaries, uid)
		s.adapter.canaryArrived(one.canary)
		return nil
	case !published:
		s.ledger.Settle(uid, mailbox.DispositionKnown)
	case errors.Is(err, bus.ErrTooLarge) || errors.Is(err, schemas.ErrInvalidEvent):
		s.fail(uid, "the ledger refuses its event", false)
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", errLedger, err)
	default:
		s.ledger.Remember(one.content.sha256())
		s.ledger.Settle(uid, mailbox.DispositionPublished)
	}
	p.Unmarked = append(p.Unmarked, uid)
	return nil
}
