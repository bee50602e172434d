package imap_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/bus"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/schemas"
)

// A script is a mailbox whose server does as told. It outlives connections.
type script struct {
	mu        sync.Mutex
	mail      map[uint32][]byte
	next      uint32
	validity  uint32
	received  map[uint32]time.Time
	announces bool
	silentNew bool              // new mail is not announced
	refuse    map[uint32]bool   // FETCH is answered with NO
	breaks    map[uint32]bool   // the connection breaks while it is fetched
	ghosts    map[uint32]bool   // found by SEARCH, never handed over
	vanish    map[uint32]bool   // removed between SEARCH and FETCH
	fetched   map[uint32]int    // how often a body was asked for
	flagged   map[uint32]string // by UID
	noFlags   bool
	dialed    int
	changes   uint64
	wake      chan struct{}

	unlisted  map[uint32]bool   // not found by SEARCH
	loose     bool              // UIDNOTSTICKY
	folders   map[string]uint32 // other mailboxes and how much mail was moved into them
	noMove    bool              // MOVE is refused
	removed   []uint32          // by Remove
	renewAt   time.Time
	breakMove bool // the connection breaks at the next MOVE
}

func newScript() *script {
	return &script{
		mail: map[uint32][]byte{}, next: 1, validity: 7, received: map[uint32]time.Time{}, announces: true,
		refuse: map[uint32]bool{}, breaks: map[uint32]bool{}, ghosts: map[uint32]bool{}, vanish: map[uint32]bool{},
		fetched: map[uint32]int{}, flagged: map[uint32]string{}, wake: make(chan struct{}, 1),
		unlisted: map[uint32]bool{}, folders: map[string]uint32{},
	}
}

func (s *script) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *script) deliver(raw []byte) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid := s.next
	s.next++
	s.mail[uid] = raw
	s.received[uid] = time.Date(2026, 1, 5, 9, 0, int(uid%60), 0, time.UTC)
	if !s.silentNew {
		s.changes++
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return uid
}

func (s *script) dial(context.Context) (connection.MailSource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialed++
	return &scripted{script: s}, nil
}

var errBroken = errors.New("connection reset")

// scripted is one connection to a script.
type scripted struct {
	*script
	broken bool
}

func (c *scripted) Select(context.Context) (connection.Mailbox, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return connection.Mailbox{UIDValidity: c.validity, UIDNext: c.next, Announces: c.announces, NotSticky: c.loose, Flags: []string{`\Seen`}}, nil
}

func (c *scripted) Search(_ context.Context, from, last uint32) ([]uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return nil, errBroken
	}
	var uids []uint32
	for uid := range c.mail {
		if uid >= from && (last == 0 || uid <= last) && !c.unlisted[uid] {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids, nil
}

func (c *scripted) Describe(_ context.Context, uids []uint32) ([]connection.Summary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var summaries []connection.Summary
	for _, uid := range uids {
		if c.vanish[uid] {
			delete(c.mail, uid)
		}
		if raw, found := c.mail[uid]; found && !c.ghosts[uid] {
			summaries = append(summaries, connection.Summary{UID: uid, Size: int64(len(raw)), Received: c.received[uid]})
		}
	}
	return summaries, nil
}

func (c *scripted) Fetch(_ context.Context, uids []uint32, receive func(uint32, io.Reader) error) error {
	for _, uid := range uids {
		c.mu.Lock()
		c.fetched[uid]++
		raw, refuse, breaks := c.mail[uid], c.refuse[uid], c.breaks[uid]
		c.broken = c.broken || breaks
		c.mu.Unlock()
		switch {
		case breaks:
			return errBroken
		case refuse:
			return &connection.RefusedError{Command: "FETCH", Type: "NO", Code: "SERVERBUG"}
		}
		if err := receive(uid, strings.NewReader(string(raw))); err != nil {
			return err
		}
	}
	return nil
}

func (c *scripted) FetchLarge(ctx context.Context, uid uint32, limit int64, w io.Writer) error {
	return c.Fetch(ctx, []uint32{uid}, func(_ uint32, r io.Reader) error {
		_, err := io.Copy(w, io.LimitReader(r, limit))
		return err
	})
}

func (c *scripted) Flag(_ context.Context, uids []uint32, flag string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noFlags {
		return &connection.RefusedError{Command: "STORE", Type: "NO"}
	}
	for _, uid := range uids {
		c.flagged[uid] = flag
	}
	return nil
}

func (c *scripted) Move(_ context.Context, uids []uint32, folder string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.breakMove {
		c.breakMove = false
		return errBroken
	}
	if _, exists := c.folders[folder]; !exists || c.noMove {
		return &connection.RefusedError{Command: "MOVE", Type: "NO", Code: "TRYCREATE"}
	}
	for _, uid := range uids {
		if c.mail[uid] != nil {
			delete(c.mail, uid)
			c.folders[folder]++
		}
	}
	return nil
}

func (c *scripted) Create(_ context.Context, folder string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noMove {
		return &connection.RefusedError{Command: "CREATE", Type: "NO"}
	}
	c.folders[folder] = 0
	return nil
}

func (c *scripted) Remove(_ context.Context, uids []uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uid := range uids {
		delete(c.mail, uid)
		c.removed = append(c.removed, uid)
	}
	return nil
}

func (c *scripted) Renew() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewAt
}

func (c *scripted) Wait(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (c *scripted) Announcements() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

func (c *scripted) Close() error { return nil }

// A ledgerEntry is what the mailbox ledger says, as an auditor reads it.
type ledgerEntry struct {
	UIDValidity uint32 `json:"uid_validity"`
	LowWater    uint32 `json:"low_water"`
	Open        []struct{ UID uint32 }
	Failed      []struct {
		UID    uint32
		Tries  int
		Reason string
	}
	Chunks            int
	Counts            struct{ Published, Known, Old, Vanished, Canary, Recovered uint64 }
	Passed            int
	DispositionChunks int `json:"disposition_chunks"`
}

func (f *fixture) position(tb testing.TB) (entry ledgerEntry) {
	tb.Helper()
	keys, err := f.store.Keys(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, key := range keys {
		if strings.Contains(key, "known") || strings.Contains(key, "disposition") {
			continue
		}
		value, _, err := f.store.Get(tb.Context(), key)
		if err != nil {
			tb.Fatal(err)
		}
		if err := json.Unmarshal(value, &entry); err != nil {
			tb.Fatal(err)
		}
	}
	return entry
}

func TestMessageThatCannotBeHadIsPassedOver_I15(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		poison func(s *script, uid uint32)
		tries  int
	}{
		"refused":             {func(s *script, uid uint32) { s.refuse[uid] = true }, 3},
		"breaks connections":  {func(s *script, uid uint32) { s.breaks[uid] = true }, 8},
		"is never handed out": {func(s *script, uid uint32) { s.ghosts[uid] = true }, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := newScript(), newFixture()
			test.poison(s, 4)
			for number := range 8 {
				s.deliver(message(number + 1))
			}
			adapter, _ := f.run(t, config("localhost", 1), s.dial)
			var got []uint32
			for range 7 {
				_, mail := f.next(t)
				got = append(got, mail.UID)
			}
			slices.Sort(got)
			if !slices.Equal(got, []uint32{1, 2, 3, 5, 6, 7, 8}) {
				t.Errorf("got %v", got)
			}
			eventually(t, "the fourth is passed over", func() bool { return adapter.Status().Failed == 1 })
			position := f.position(t)
			if len(position.Failed) != 1 || position.Failed[0].UID != 4 || position.Failed[0].Tries != test.tries || position.Failed[0].Reason == "" || len(position.Open) != 0 || position.LowWater != 8 {
				t.Errorf("ledger %+v", position)
			}
			if !strings.Contains(f.log.String(), `"uid":4`) {
				t.Errorf("the log does not name it:\n%s", f.log)
			}
			s.locked(func() {
				for uid, times := range s.fetched {
					if uid != 4 && times > 2 {
						t.Errorf("message %d was fetched %d times", uid, times)
					}
				}
			})
			s.deliver(message(9))
			if _, mail := f.next(t); mail.UID != 9 {
				t.Errorf("then UID %d", mail.UID)
			}
		})
	}
}

func TestConnectionLossBlamesNobodyForGood(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 5 {
		s.deliver(message(number + 1))
	}
	s.breaks[3] = true
	settings := config("localhost", 1)
	settings.RetryAfter = time.Hour // so that it stays open until the server is well again
	adapter, stop := f.run(t, settings, s.dial)
	for range 4 {
		f.next(t)
	}
	connected(t, adapter)
	stop()
	if position := f.position(t); len(position.Open) != 1 || position.Open[0].UID != 3 || len(position.Failed) != 0 {
		t.Fatalf("ledger %+v", position)
	}
	s.locked(func() { s.breaks[3] = false })
	settings.Clock = func() time.Time { return time.Now().Add(2 * time.Hour) }
	f.run(t, settings, s.dial)
	if _, mail := f.next(t); mail.UID != 3 {
		t.Errorf("UID %d", mail.UID)
	}
	f.none(t)
}

func TestRemovedMailIsNoGap_I06(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.vanish[2] = true
	for number := range 3 {
		s.deliver(message(number + 1))
	}
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	for _, want := range []uint32{1, 3} {
		if _, mail := f.next(t); mail.UID != want {
			t.Errorf("UID %d in place of %d", mail.UID, want)
		}
	}
	connected(t, adapter)
	stop()
	if position := f.position(t); position.Counts.Vanished != 1 || position.Counts.Published != 2 || position.LowWater != 3 || len(position.Open)+len(position.Failed) != 0 {
		t.Errorf("ledger %+v", position)
	}
}

func TestSinceTakesMailFromThenOn_I07(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 20 {
		s.deliver(message(number + 1))
	}
	settings := config("localhost", 1)
	settings.Since = time.Date(2026, 1, 5, 9, 0, 18, 0, time.UTC)
	adapter, stop := f.run(t, settings, s.dial)
	for _, want := range []uint32{18, 19, 20} {
		if _, mail := f.next(t); mail.UID != want {
			t.Errorf("UID %d in place of %d", mail.UID, want)
		}
	}
	connected(t, adapter)
	uid := s.deliver(message(99)) // moved here later, though it is old
	s.locked(func() { s.received[uid] = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) })
	if _, mail := f.next(t); mail.UID != uid {
		t.Errorf("UID %d in place of %d", mail.UID, uid)
	}
	stop()
	if position := f.position(t); position.Counts.Old != 17 {
		t.Errorf("ledger %+v", position)
	}
}

func TestAnnouncementsAreNotTrustedBlindly_I10(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.IdleReissue = 100 * time.Millisecond
	adapter, _ := f.run(t, settings, s.dial)
	connected(t, adapter)
	s.deliver(message(1))
	f.next(t)
	eventually(t, "the server has proven itself", func() bool { return adapter.Status().Trust == imap.TrustPush })
	s.locked(func() { s.silentNew = true })
	s.deliver(message(2))
	f.next(t)
	eventually(t, "it has lost trust", func() bool { return adapter.Status().Trust == imap.TrustNone })
}

func TestFlagIsACourtesy_I16(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	s.deliver(message(1))
	f.next(t)
	eventually(t, "the flag is set", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.flagged[1] == `\Seen`
	})
	s.locked(func() { s.noFlags = true })
	for number := range 3 {
		s.deliver(message(number + 2))
		f.next(t)
	}
	s.locked(func() {
		if s.dialed != 1 {
			t.Errorf("it connected %d times", s.dialed)
		}
	})
}

func TestKnownMailIsRememberedBeyondOneEntry(t *testing.T) {
	t.Parallel()
	const mails = 1200
	s, f := newScript(), newFixture()
	for number := range mails {
		s.deliver(message(number))
	}
	_, stop := f.run(t, config("localhost", 1), s.dial)
	for range mails {
		f.next(t)
	}
	eventually(t, "the ledger has it", func() bool { return f.position(t).LowWater == mails })
	stop()
	if position := f.position(t); position.Chunks != mails/512 {
		t.Errorf("%d full entries", position.Chunks)
	}
	s.locked(func() { // every UID changes, and two mails are new
		s.validity, s.next = 8, mails+3
		renumbered := map[uint32][]byte{1: message(mails), mails + 2: message(mails + 1)}
		for uid, raw := range s.mail {
			renumbered[uid+1] = raw
		}
		s.mail = renumbered
	})
	_, stop = f.run(t, config("localhost", 1), s.dial)
	for range 2 {
		_, mail := f.next(t)
		if !slices.Contains([]string{fmt.Sprintf("Mail %d", mails), fmt.Sprintf("Mail %d", mails+1)}, mail.Subject) {
			t.Errorf("known mail %q came again", mail.Subject)
		}
	}
	eventually(t, "the ledger has it", func() bool { return f.position(t).LowWater == mails+2 })
	stop()
	f.none(t)
	if position := f.position(t); position.Counts.Known != mails || position.UIDValidity != 8 {
		t.Errorf("ledger %+v", position)
	}
}

func TestTwoAdaptersOnOneMailboxPublishTheSameIDs_I01(t *testing.T) {
	t.Parallel()
	const mails = 50
	s, f := newScript(), newFixture()
	s.announces = false
	f.run(t, config("localhost", 1), s.dial)
	f.run(t, config("localhost", 1), s.dial)
	for number := range mails {
		s.deliver(message(number))
	}
	ids := map[string]bool{}
	for len(ids) < mails {
		e, _ := f.next(t)
		ids[e.ID] = true
	}
	eventually(t, "the ledger has it", func() bool { return f.position(t).LowWater == mails })
	for range len(f.intake.submitted) {
		if e := <-f.intake.submitted; !ids[e.ID] {
			t.Errorf("event %s is a mail's second", e.ID)
		}
	}
}

func TestEventThatTheLedgerRefusesStopsNobody(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	f.intake.setError(fmt.Errorf("submit: %w", bus.ErrTooLarge))
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	eventually(t, "it is passed over", func() bool { return adapter.Status().Failed == 1 })
	f.intake.setError(nil)
	s.deliver(message(2))
	if _, mail := f.next(t); mail.UID != 2 {
		t.Errorf("UID %d", mail.UID)
	}
}

func TestOwnMailIsNoPersons(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.Own = func(id string) bool { return id == "1@example.org" }
	f.run(t, settings, s.dial)
	s.deliver(message(1))
	if _, mail := f.next(t); mail.Class != schemas.MailAutoReply {
		t.Errorf("class %q", mail.Class)
	}
	s.deliver(message(2))
	if _, mail := f.next(t); mail.Class != schemas.MailHuman {
		t.Errorf("class %q", mail.Class)
	}
}

func TestConfigIsCheckedAsAWhole(t *testing.T) {
	t.Parallel()
	f := newFixture()
	dependencies := imap.Dependencies{Intake: f.intake, Core: f.core, Store: f.store}
	_, err := imap.New(imap.Config{
		Config: connection.Config{Host: "mail.example.org", Security: connection.SecurityNone}, IdleReissue: time.Hour,
	}, dependencies)
	for _, want := range []string{"account", "profile", "username", "password", "in the clear; use implicit or starttls", "RFC 2177"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not speak of %s: %v", want, err)
		}
	}
	settings := config("mail.example.org", 143)
	settings.Cleartext = netip.Addr.IsPrivate
	if _, err := imap.New(settings, dependencies); err != nil {
		t.Errorf("allowed explicitly: %v", err)
	}
	if _, err := imap.New(config("::1", 143), imap.Dependencies{}); err == nil {
		t.Error("an adapter without a ledger")
	}
}
