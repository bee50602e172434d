package imap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/mailbox"
)

// keyword marks mail that was dealt with, for people who look at the mailbox.
// Nothing here is decided by it.
const keyword = "$PodiumIngested"

const (
	maxUnstored = 5_000 // spans of dispositions that one commit adds
	maxChecks   = 8     // searches of one comparison with the ledger, where mail is sparse
)

var (
	errLedger      = errors.New("the ledger does not take the mail")
	errUIDValidity = errors.New("the server does not name the UIDVALIDITY of the mailbox")
	errNotSticky   = errors.New("the server gives messages of this mailbox new UIDs at every connection (UIDNOTSTICKY), so that nobody can tell which were taken; use another mailbox or server")
	errRenew       = errors.New("the token that the connection was opened with ends")
)

// A session is one connection at work on one mailbox. It is for one goroutine.
type session struct {
	adapter *Adapter
	config  Config
	source  connection.MailSource
	mailbox connection.Mailbox
	ledger  *mailbox.Ledger
	flag    string // set on mail that was dealt with; "" is none
	trust   Trust
	// How many changes were announced before the newest search, and after it.
	announced, heard uint64
	// behind is how many messages there are at most beyond the window under way.
	behind int
	// flushed says that what the ledger says survives a loss of power.
	flushed bool
	// refusedFolders are mailboxes that took no mail on this connection.
	refusedFolders map[string]bool
}

// openSession opens the mailbox and brings its ledger in line with it.
func openSession(ctx context.Context, adapter *Adapter, source connection.MailSource) (*session, error) {
	selected, err := source.Select(ctx)
	if err != nil {
		return nil, err
	}
	if selected.UIDValidity == 0 {
		return nil, errUIDValidity
	}
	if selected.NotSticky {
		return nil, errNotSticky
	}
	ledger, found, err := mailbox.Open(ctx, adapter.dependencies.Store, adapter.config.Account, adapter.config.Mailbox)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLedger, err)
	}
	s := &session{
		adapter: adapter, config: adapter.config, source: source, mailbox: selected, ledger: ledger,
		flag: chooseFlag(selected.Flags, adapter.config.After.Processed), trust: adapter.Status().Trust, refusedFolders: map[string]bool{},
	}
	if !selected.Announces {
		s.trust = TrustNone
	}
	switch {
	case !found:
		err = s.openWithoutLedger(ctx)
	case ledger.Incomplete || adapter.incomplete:
		err = s.complete(ctx)
	case ledger.Cursor.UIDValidity != selected.UIDValidity:
		err = s.resync(ctx)
	}
	if err != nil {
		return nil, err
	}
	adapter.update(func(status *Status) {
		status.Connected, status.Trust, status.Problem = true, s.trust, ""
		status.Rebuilt = ledger.Cursor.Rebuilt
	})
	return s, nil
}

// chooseFlag prefers our own keyword; a server that keeps no new keywords gets \Seen.
func chooseFlag(permanent []string, processing Processing) string {
	custom := slices.Contains(permanent, `\*`) || slices.Contains(permanent, keyword)
	switch {
	case custom && processing != ProcessingSeen:
		return keyword
	case slices.Contains(permanent, `\Seen`):
		return `\Seen`
	}
	return ""
}

// run deals with what is there and waits for more, until the connection ends.
func (s *session) run(ctx context.Context) error {
	for first := true; ; first = false {
		announced := s.announced
		found, all, err := s.catchUp(ctx)
		if err == nil {
			err = s.findGaps(ctx)
		}
		if err != nil {
			return err
		}
		if !first { // what came before the connection was not to be announced on it
			s.updateTrust(found, s.heard != announced)
		}
		s.adapter.update(func(status *Status) { status.Trust = s.trust })
		if all {
			s.adapter.succeeded(s.config.Clock())
		}
		if err := s.source.Wait(ctx, s.idleLimit()); err != nil {
			return err
		}
		if s.timeLeft() <= 0 {
			return errRenew
		}
	}
}

// timeLeft is how long the connection may still be used.
func (s *session) timeLeft() time.Duration {
	renew := s.source.Renew()
	if renew.IsZero() {
		return 1<<63 - 1
	}
	return renew.Sub(s.config.Clock())
}

// updateTrust compares what was found with what was announced.
func (s *session) updateTrust(found int, announced bool) {
	switch {
	case !s.mailbox.Announces || found == 0:
	case announced:
		s.trust = TrustPush
	case s.trust != TrustNone:
		s.trust = TrustNone
		s.adapter.log.Warn().Int("found", found).Msg("the server has not announced new mail; looking more often from now on")
	}
}

// idleLimit returns how long to wait for an announcement.
func (s *session) idleLimit() time.Duration {
	wait := s.config.PollInterval*4/5 + jitter(s.config.PollInterval*2/5)
	if s.trust == TrustPush {
		wait = s.config.IdleReissue
	}
	now := s.config.Clock()
	if _, next := s.ledger.Cursor.Due(now, mailbox.LongestWait(s.config.RetryAfter)); !next.IsZero() {
		wait = min(wait, next.Sub(now))
	}
	return max(min(wait, s.timeLeft()), 0)
}

// catchUp deals with everything that the server has, and returns how many new
// messages there were, and whether all of them were dealt with.
func (s *session) catchUp(ctx context.Context) (found int, all bool, err error) {
	if err := s.flagProcessed(ctx); err != nil {
		return 0, false, err
	}
	p := &s.ledger.Cursor
	again, _ := p.Due(s.config.Clock(), mailbox.LongestWait(s.config.RetryAfter))
	for _, uid := range again {
		if err := s.ingestOne(ctx, uid); err != nil {
			return 0, false, err
		}
	}
	if p.LowWater == 1<<32-1 {
		return 0, true, nil
	}
	if found, all, err = s.ingestBacklog(ctx); err != nil || !all {
		return found, all, err
	}
	s.announced = s.source.Announcements()
	fresh, err := s.source.Search(ctx, p.LowWater+1, 0)
	s.heard = s.source.Announcements()
	if err != nil {
		return 0, false, err
	}
	newest := p.LowWater
	for _, uid := range fresh {
		newest = max(newest, uid)
	}
	fresh = slices.DeleteFunc(fresh, s.accounted)
	if all, err = s.ingestAll(ctx, fresh); err == nil && all {
		p.LowWater = max(p.LowWater, newest)
	}
	return found + len(fresh), all, err
}

// ingestBacklog deals with a large part of a mailbox in windows, so that no answer
// to a search lists millions.
func (s *session) ingestBacklog(ctx context.Context) (found int, all bool, err error) {
	p := &s.ledger.Cursor
	for w := connection.NewWindow(uint64(p.LowWater)+1, uint64(s.mailbox.UIDNext), connection.SearchWindow); w.Left() >= connection.SearchWindow; {
		uids, last, err := w.Search(ctx, s.source)
		if err != nil {
			return found, false, err
		}
		s.behind = int(s.mailbox.UIDNext - 1 - last)
		uids = slices.DeleteFunc(uids, s.accounted)
		found += len(uids)
		if all, err := s.ingestAll(ctx, uids); err != nil || !all {
			return found, false, err
		}
		p.LowWater = max(p.LowWater, last) // below UIDNEXT nothing can come any more
	}
	s.behind = 0
	return found, true, nil
}

func (s *session) reportLag(fresh int) {
	p := &s.ledger.Cursor
	s.adapter.update(func(status *Status) {
		status.Lag, status.Failed = fresh+s.behind+len(p.Open), int(p.Passed) //nolint:gosec // far below
		status.Published, status.Recovered = p.Counts.Published, p.Counts.Recovered
	})
}

// findGaps compares what the server has with what the ledger accounts for: of a
// large mailbox a window at a time. A message below the low water mark without a
// disposition, or one that had vanished and is there again, is a gap; it is taken now.
func (s *session) findGaps(ctx context.Context) error {
	low := s.ledger.Cursor.LowWater
	if s.adapter.checked >= low {
		s.adapter.checked = 0
	}
	if low == 0 {
		return nil
	}
	w := connection.NewWindow(uint64(s.adapter.checked)+1, uint64(low)+1, connection.SearchWindow)
	w.Size = max(w.Size, s.adapter.checkSize)
	for checks, compared := 0, 0; checks < maxChecks && compared < connection.SearchWindow/4 && w.Left() > 0; checks++ {
		uids, last, err := w.Search(ctx, s.source)
		if err != nil {
			return err
		}
		compared += len(uids)
		if all, err := s.ingestGaps(ctx, slices.DeleteFunc(uids, s.accounted)); err != nil || !all {
			return err
		}
		s.adapter.checked, s.adapter.checkSize = last, w.Size
	}
	return nil
}

// ingestGaps takes messages that nothing accounts for. It returns false as ingestAll does.
func (s *session) ingestGaps(ctx context.Context, gaps []uint32) (all bool, err error) {
	s.adapter.update(func(status *Status) { status.Gaps = len(gaps) })
	if len(gaps) == 0 {
		return true, nil
	}
	s.adapter.log.Error().Int("gaps", len(gaps)).Uint32("first", gaps[0]).Uint32("uid_validity", s.mailbox.UIDValidity).
		Msg("the mailbox holds mail that the ledger does not account for; it is taken now")
	if all, err = s.ingestAll(ctx, gaps); err == nil && all {
		s.adapter.update(func(status *Status) { status.Gaps = 0 })
	}
	return all, err
}

// accounted tells whether the ledger says what became of a message that is there.
func (s *session) accounted(uid uint32) bool {
	kind := s.ledger.Dispositions.Of(uid)
	return kind != mailbox.DispositionNone && kind != mailbox.DispositionVanished || s.ledger.Cursor.IsOpen(uid)
}
