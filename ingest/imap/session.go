package imap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// keyword marks mail that was dealt with, for people who look at the mailbox.
// Nothing here is decided by it.
const keyword = "$PodiumIngested"

const commitDeadline = 5 * time.Second

var (
	errLedger      = errors.New("the ledger does not take the mail")
	errUIDValidity = errors.New("the server does not name the UIDVALIDITY of the mailbox")
)

// A session is one connection at work on one mailbox. It is for one goroutine.
type session struct {
	door    *Door
	config  Config
	source  MailSource
	mailbox Mailbox
	ledger  *mailboxLedger
	flag    string // set on mail that was dealt with; "" is none
	trust   Trust
}

// openSession opens the mailbox and brings its ledger in line with it.
func openSession(ctx context.Context, door *Door, source MailSource) (*session, error) {
	mailbox, err := source.Select(ctx)
	if err != nil {
		return nil, err
	}
	if mailbox.UIDValidity == 0 {
		return nil, errUIDValidity
	}
	ledger, found, err := openLedger(ctx, door.dependencies.Store, door.config.Account, door.config.Mailbox)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLedger, err)
	}
	s := &session{
		door: door, config: door.config, source: source, mailbox: mailbox, ledger: ledger,
		flag: chooseFlag(mailbox.Flags), trust: door.Status().Trust,
	}
	if !mailbox.Announces {
		s.trust = TrustNone
	} else if s.trust == "" {
		s.trust = TrustUnproven
	}
	switch {
	case !found:
		err = s.firstContact(ctx)
	case ledger.position.UIDValidity != mailbox.UIDValidity:
		err = s.renumber(ctx)
	}
	if err != nil {
		return nil, err
	}
	door.update(func(status *Status) { status.Connected, status.Trust, status.Problem = true, s.trust, "" })
	return s, nil
}

// chooseFlag prefers our own keyword; a server that keeps no new keywords gets \Seen.
func chooseFlag(permanent []string) string {
	switch {
	case slices.Contains(permanent, `\*`), slices.Contains(permanent, keyword):
		return keyword
	case slices.Contains(permanent, `\Seen`):
		return `\Seen`
	}
	return ""
}

// firstContact decides what of the mail that is there already is to be taken.
func (s *session) firstContact(ctx context.Context) error {
	next, err := s.nextUID(ctx)
	if err != nil {
		return err
	}
	p := &s.ledger.position
	p.UIDValidity, p.Backlog, p.Since = s.mailbox.UIDValidity, next, s.config.Since
	if p.Since.IsZero() {
		p.Since, p.LowWater = s.config.Clock().UTC(), next-1
	}
	return s.commit(ctx)
}

// renumber begins anew after the server has changed every UID.
func (s *session) renumber(ctx context.Context) error {
	next, err := s.nextUID(ctx)
	if err != nil {
		return err
	}
	p := &s.ledger.position
	s.door.log.Warn().Uint32("uid_validity", s.mailbox.UIDValidity).Uint32("uid_validity_before", p.UIDValidity).
		Msg("UIDVALIDITY changed: the mailbox is read again, and known mail is passed over")
	p.UIDValidity, p.Backlog, p.LowWater, p.Open, p.Failed = s.mailbox.UIDValidity, next, 0, nil, nil
	return s.commit(ctx)
}

// nextUID returns the UID that the next message will have at least.
func (s *session) nextUID(ctx context.Context) (uint32, error) {
	if s.mailbox.UIDNext > 0 {
		return s.mailbox.UIDNext, nil
	}
	uids, err := s.source.Search(ctx, 1)
	if err != nil || len(uids) == 0 {
		return 1, err
	}
	return uids[len(uids)-1] + 1, nil
}

// run deals with what is there and waits for more, until the connection ends.
func (s *session) run(ctx context.Context) error {
	announced := s.source.Announcements()
	for first := true; ; first = false {
		found, err := s.catchUp(ctx)
		if err != nil {
			return err
		}
		if !first { // what came before the connection was not to be announced on it
			s.learn(found, s.source.Announcements() != announced)
		}
		announced = s.source.Announcements()
		now := s.config.Clock()
		s.door.update(func(status *Status) { status.Trust, status.LastSuccess = s.trust, now })
		if err := s.source.Wait(ctx, s.patience()); err != nil {
			return err
		}
	}
}

// learn compares what was found with what was announced.
func (s *session) learn(found int, announced bool) {
	switch {
	case !s.mailbox.Announces || found == 0:
	case announced:
		s.trust = TrustPush
	case s.trust != TrustNone:
		s.trust = TrustNone
		s.door.log.Warn().Int("found", found).Msg("the server has not announced new mail; looking more often from now on")
	}
}

// patience returns how long to wait for an announcement.
func (s *session) patience() time.Duration {
	wait := s.config.PollInterval*4/5 + jitter(s.config.PollInterval*2/5)
	if s.trust == TrustPush {
		wait = s.config.IdleReissue
	}
	now := s.config.Clock()
	if _, next := s.ledger.position.due(now); !next.IsZero() {
		wait = min(wait, next.Sub(now))
	}
	return max(wait, 0)
}

// catchUp deals with everything that the server has, and returns how many new
// messages there were.
func (s *session) catchUp(ctx context.Context) (int, error) {
	again, _ := s.ledger.position.due(s.config.Clock())
	for _, uid := range again {
		if err := s.take(ctx, []uint32{uid}); err != nil {
			return 0, err
		}
	}
	low := s.ledger.position.LowWater
	if low == 1<<32-1 {
		return 0, nil
	}
	fresh, err := s.source.Search(ctx, low+1)
	if err != nil {
		return 0, err
	}
	left := len(fresh)
	s.lag(left)
	size := batchCount
	if s.door.careful {
		size = 1
	}
	for batch := range slices.Chunk(fresh, size) {
		if err := s.take(ctx, batch); err != nil {
			return 0, err
		}
		left -= len(batch)
		s.lag(left)
	}
	s.door.careful = false
	return len(fresh), nil
}

func (s *session) lag(fresh int) {
	p := &s.ledger.position
	s.door.update(func(status *Status) {
		status.Lag, status.Failed = fresh+len(p.Open), len(p.Failed)
	})
}

// commit writes the ledger, also when the door is being stopped: what was
// published is then not offered again.
func (s *session) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitDeadline)
	defer cancel()
	if err := s.ledger.commit(ctx); err != nil {
		return fmt.Errorf("%w: %w", errLedger, err)
	}
	return nil
}
