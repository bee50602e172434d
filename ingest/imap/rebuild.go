package imap

import (
	"context"
	"slices"
	"time"
)

// The store may lose entries with the power, and the event ledger does not lose those
// events: they were flushed before any entry named them. So a mailbox ledger is made again
// from them. What has an event is published; of everything else nobody knows what became
// of it, and it is taken: nothing is passed over for being there already.

// complete makes a mailbox ledger whole of which the store has lost a part.
func (s *session) complete(ctx context.Context) error {
	mails, err := s.published(ctx, every)
	if err != nil {
		return err
	}
	return s.rebuild(ctx, mails)
}

// rebuild makes the mailbox ledger from the mails that have an event. What is left of the
// one before stays.
func (s *session) rebuild(ctx context.Context, mails []publishedMail) error {
	next, err := s.nextUID(ctx)
	if err != nil {
		return err
	}
	l, p := s.ledger, &s.ledger.Cursor
	lost := p.UIDValidity == 0
	s.adapter.log.Error().Bool("lost_wholly", lost).Int("events", len(mails)).Uint32("uid_validity", s.mailbox.UIDValidity).
		Msg("the ledger of the mailbox was lost, or a part of it, and is made again from the events; mail without an event is taken")
	if p.UIDValidity != s.mailbox.UIDValidity {
		l.Restart(s.mailbox.UIDValidity, next)
	}
	if lost {
		p.Since, p.Backlog = s.limits(mails, next)
		p.Counts.Published = uint64(len(mails))
	}
	numbered := s.rememberAll(mails)
	l.NotePublished(numbered)
	if lost {
		// What was not yet flagged or moved is among the newest two batches.
		p.Unmarked = slices.Clone(numbered[max(0, len(numbered)-2*batchCount):])
	}
	p.Rebuilt = s.config.Clock().UTC()
	s.adapter.checked = 0
	if err := s.flush(ctx); err != nil { // the events
		return err
	}
	if err := s.commit(ctx); err != nil {
		return err
	}
	l.Incomplete, s.adapter.incomplete = false, false
	return nil
}

// limits returns how old a mail below which UID has to be, so that it was never asked for.
// A configured date says so. Without one the mail that was there at first contact was not,
// which came before the first that was taken, by its UID and by its date.
func (s *session) limits(mails []publishedMail, next uint32) (since time.Time, below uint32) {
	if !s.config.Since.IsZero() {
		return s.config.Since, next
	}
	first := &mails[0]
	for i := range mails {
		if mails[i].recorded.Before(first.recorded) {
			first = &mails[i]
		}
	}
	if mails[0].validity == s.mailbox.UIDValidity && mails[len(mails)-1].validity == s.mailbox.UIDValidity {
		return first.received, mails[0].uid
	}
	return first.received, next // by their UIDs old and new cannot be told apart any more
}

// rememberAll remembers the bytes of all mails that have an event, those of earlier
// UIDVALIDITYs first, and returns the UIDs of the others.
func (s *session) rememberAll(mails []publishedMail) (uids []uint32) {
	p := &s.ledger.Cursor
	s.ledger.Forget()
	for i := range mails {
		if mails[i].validity != p.UIDValidity {
			s.ledger.Remember(mails[i].sha256)
		}
	}
	p.Before = p.Remembered()
	for i := range mails {
		if mails[i].validity == p.UIDValidity {
			s.ledger.Remember(mails[i].sha256)
			uids = append(uids, mails[i].uid)
		}
	}
	return uids
}
