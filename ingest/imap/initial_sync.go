package imap

import (
	"context"
	"time"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/mailbox"
)

const initialWindow = 20_000 // UIDs that are passed over at once, at least

// openWithoutLedger opens a mailbox that the store has no ledger of. It is new only when no event of
// it stands on the event ledger: else its ledger was lost.
func (s *session) openWithoutLedger(ctx context.Context) error {
	if !s.adapter.unread {
		mails, err := s.published(ctx, every)
		if err != nil {
			return err
		}
		if len(mails) > 0 {
			return s.rebuild(ctx, mails)
		}
		s.adapter.unread = true
	}
	return s.initialSync(ctx)
}

// initialSync decides what of the mail that is there already is to be taken. What
// came after the first look is none of it, even if that look could not be noted.
func (s *session) initialSync(ctx context.Context) error {
	if first := &s.adapter.first; first.validity != s.mailbox.UIDValidity {
		next, err := s.nextUID(ctx)
		if err != nil {
			return err
		}
		*first = firstLook{validity: s.mailbox.UIDValidity, next: next, at: s.config.Clock().UTC()}
	}
	next := s.adapter.first.next
	s.ledger.Restart(s.mailbox.UIDValidity, next)
	p := &s.ledger.Cursor
	if p.Since = s.config.Since; p.Since.IsZero() {
		p.Since = s.adapter.first.at
		if err := s.skipExisting(ctx, next); err != nil {
			return err
		}
		p.LowWater = next - 1
		s.adapter.log.Info().Uint32("next_uid", next).Msg("the first login to this mailbox: what is there stays as it is, and what comes from now on is taken (since: now)")
	}
	return s.commit(ctx)
}

// A firstLook is what a mailbox was like when this process saw it first.
type firstLook struct {
	validity, next uint32
	at             time.Time
}

// skipExisting notes every message below a UID as older than was asked for. It names
// them one by one: another that a server puts among them later is new mail.
func (s *session) skipExisting(ctx context.Context, next uint32) error {
	for w := connection.NewWindow(1, uint64(next), initialWindow); w.Left() > 0; {
		uids, _, err := w.Search(ctx, s.source)
		if err != nil {
			return err
		}
		for _, uid := range uids {
			if s.ledger.Settle(uid, mailbox.DispositionOld); s.ledger.Unstored() < maxUnstored {
				continue
			}
			if err := s.commit(ctx); err != nil {
				return err
			}
		}
		// Should it end here, the rest is told from new mail by its age.
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resync begins anew after the server has changed every UID.
func (s *session) resync(ctx context.Context) error {
	next, err := s.nextUID(ctx)
	if err != nil {
		return err
	}
	s.adapter.log.Warn().Uint32("uid_validity", s.mailbox.UIDValidity).Uint32("uid_validity_before", s.ledger.Cursor.UIDValidity).
		Msg("UIDVALIDITY changed: the mailbox is read again, and known mail is passed over")
	if err := s.recoverPublished(ctx); err != nil {
		return err
	}
	if err := s.flush(ctx); err != nil { // the events that the ledger names from now on
		return err
	}
	s.ledger.Restart(s.mailbox.UIDValidity, next)
	s.adapter.checked = 0
	return s.commit(ctx)
}

// nextUID returns the UID that the next message will have at least.
func (s *session) nextUID(ctx context.Context) (uint32, error) {
	if s.mailbox.UIDNext > 0 {
		return s.mailbox.UIDNext, nil
	}
	uids, err := s.source.Search(ctx, 1, 0)
	if err != nil || len(uids) == 0 {
		return 1, err
	}
	return uids[len(uids)-1] + 1, nil
}
