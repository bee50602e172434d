package imap_test

import (
	"context"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"podium/ingest/imap"
	"podium/ingest/imap/audit"
	"podium/ingest/imap/connection"
)

// changed is a connection on which one method behaves otherwise.
type changed struct {
	connection.MailSource
	search     func(ctx context.Context, from, last uint32) ([]uint32, error)
	describe   func(ctx context.Context, uids []uint32) ([]connection.Summary, error)
	fetch      func(ctx context.Context, uids []uint32, receive func(uint32, io.Reader) error) error
	fetchLarge func(ctx context.Context, uid uint32, limit int64, w io.Writer) error
	move       func(ctx context.Context, uids []uint32, folder string) error
	renew      func() time.Time
}

func (c *changed) Move(ctx context.Context, uids []uint32, folder string) error {
	if c.move != nil {
		return c.move(ctx, uids, folder)
	}
	return c.MailSource.Move(ctx, uids, folder)
}

func (c *changed) Renew() time.Time {
	if c.renew != nil {
		return c.renew()
	}
	return c.MailSource.Renew()
}

func (c *changed) Search(ctx context.Context, from, last uint32) ([]uint32, error) {
	if c.search != nil {
		return c.search(ctx, from, last)
	}
	return c.MailSource.Search(ctx, from, last)
}

func (c *changed) Describe(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
	if c.describe != nil {
		return c.describe(ctx, uids)
	}
	return c.MailSource.Describe(ctx, uids)
}

func (c *changed) Fetch(ctx context.Context, uids []uint32, receive func(uint32, io.Reader) error) error {
	if c.fetch != nil {
		return c.fetch(ctx, uids, receive)
	}
	return c.MailSource.Fetch(ctx, uids, receive)
}

func (c *changed) FetchLarge(ctx context.Context, uid uint32, limit int64, w io.Writer) error {
	if c.fetchLarge != nil {
		return c.fetchLarge(ctx, uid, limit, w)
	}
	return c.MailSource.FetchLarge(ctx, uid, limit, w)
}

// TestNewestOfAMailboxWithHighUIDs: few messages below a UIDNEXT near the end of
// the numbers are found, and the looking ends.
func TestNewestOfAMailboxWithHighUIDs(t *testing.T) {
	t.Parallel()
	for _, next := range []uint32{1, 100, 1 << 31, 3_400_000_000, math.MaxUint32} {
		s := newScript()
		s.deliver(message(1))
		s.next = next
		source, err := s.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		searches := 0
		counted := &changed{MailSource: source, search: func(_ context.Context, from, last uint32) ([]uint32, error) {
			if searches++; searches > 100 {
				cancel()
				return nil, context.Canceled
			}
			return source.Search(ctx, from, last)
		}}
		seen := 0
		err = imap.LookAt(ctx, config("localhost", 1), counted, 50, func(imap.Preview) error { seen++; return nil })
		if err != nil || seen != 1 {
			t.Errorf("UIDNEXT %d: %d messages after %d searches, %v", next, seen, searches, err)
		}
		cancel()
	}
}

// TestUIDsLikeTimeStamps_I07: a mailbox with few messages and high UIDs, as some
// servers make them of the time, is dealt with by a number of searches that a
// connection can do, at first contact and when all of it is wanted.
func TestUIDsLikeTimeStamps_I07(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]time.Time{"from now on": {}, "all": time.Unix(0, 0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := newScript(), newFixture()
			s.next = 1_700_000_000
			s.deliver(message(1))
			s.next = 4_200_000_000
			s.deliver(message(2))
			var mu sync.Mutex
			searches := 0
			settings := config("localhost", 1)
			settings.Since = since
			adapter, _ := f.run(t, settings, func(ctx context.Context) (connection.MailSource, error) {
				source, err := s.dial(ctx)
				return &changed{MailSource: source, search: func(ctx context.Context, from, last uint32) ([]uint32, error) {
					mu.Lock()
					searches++
					mu.Unlock()
					return source.Search(ctx, from, last)
				}}, err
			})
			connected(t, adapter)
			if name == "all" {
				f.next(t)
				f.next(t)
			}
			mu.Lock()
			made := searches
			mu.Unlock()
			if made > 3000 {
				t.Errorf("%d searches", made)
			}
			source, err := s.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			audited := 0
			report := f.audit(t, settings, &changed{MailSource: source, search: func(ctx context.Context, from, last uint32) ([]uint32, error) {
				audited++
				return source.Search(ctx, from, last)
			}})
			if !report.Clean() || report.Messages != 2 || report.Present != 2 || audited > 3000 {
				t.Errorf("after %d searches: %s, %d present, gaps %v", audited, outcomes(report), report.Present, report.Gaps)
			}
		})
	}
}

// TestLargeMailThatIsRemovedOnTheWay_I06: a message of which only the first piece
// could be had is no whole one.
func TestLargeMailThatIsRemovedOnTheWay_I06(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		removed        bool
		vanished, came uint64
	}{
		{"removed", true, 1, 1},
		{"a server that hiccups", false, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, f := newScript(), newFixture()
			large := append(message(1), make([]byte, 20<<20)...)
			uid := s.deliver(large)
			s.deliver(message(2))
			hiccups := 1
			adapter, _ := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
				source, err := s.dial(ctx)
				return &changed{MailSource: source, fetchLarge: func(ctx context.Context, uid uint32, limit int64, w io.Writer) error {
					if hiccups == 0 {
						return source.FetchLarge(ctx, uid, limit, w)
					}
					hiccups--
					_, err := w.Write(large[:8<<20])
					if test.removed {
						s.locked(func() { delete(s.mail, uid) })
					}
					return err
				}}, err
			})
			for range test.came {
				if _, mail := f.next(t); mail.UID == uid && mail.Raw.Size != int64(len(large)) {
					t.Errorf("%d bytes of %d came as a whole mail: %v", mail.Raw.Size, len(large), mail.Problems)
				}
			}
			eventually(t, "both are dealt with", func() bool { return adapter.Status().Lag == 0 && f.position(t).LowWater == 2 })
			f.none(t)
			if counts := f.position(t).Counts; counts.Vanished != test.vanished || counts.Published != test.came {
				t.Errorf("ledger %+v", counts)
			}
		})
	}
}

// TestMailThatCannotBeDescribed_I15: what the server says of a message breaks the
// connection, such as a malformed INTERNALDATE; its bytes can be had all the same.
func TestMailThatCannotBeDescribed_I15(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 3 {
		s.deliver(message(number + 1))
	}
	adapter, _ := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, describe: func(ctx context.Context, uids []uint32) ([]connection.Summary, error) {
			if slices.Contains(uids, 2) {
				return nil, errBroken
			}
			return source.Describe(ctx, uids)
		}}, err
	})
	var got []uint32
	for range 3 {
		_, mail := f.next(t)
		got = append(got, mail.UID)
		if mail.Received.IsZero() {
			t.Errorf("UID %d has no time", mail.UID)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []uint32{1, 2, 3}) || adapter.Status().Failed != 0 {
		t.Errorf("got %v, %d failed", got, adapter.Status().Failed)
	}
}

// TestTwoMailsOfTheSameBytes_I03: at first contact nothing is known from before,
// so that each of them counts.
func TestTwoMailsOfTheSameBytes_I03(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	s.deliver(message(1))
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	_, first := f.next(t)
	_, second := f.next(t)
	if first.UID == second.UID {
		t.Errorf("UIDs %d and %d", first.UID, second.UID)
	}
	connected(t, adapter)
	eventually(t, "both are noted", func() bool { return f.position(t).Counts.Published == 2 })
	stop()
	// When the numbers change, both are known.
	s.locked(func() {
		s.validity, s.next = 8, 13
		s.mail = map[uint32][]byte{11: message(1), 12: message(1)}
		s.received = map[uint32]time.Time{11: time.Now(), 12: time.Now()}
	})
	adapter, _ = f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	eventually(t, "both are known", func() bool { return f.position(t).Counts.Known == 2 })
	f.none(t)
}

// TestAuditWhileMailIsRemoved_I13: mail that somebody removes between the audit's
// look at the server and its look at the ledger is no gap.
func TestAuditWhileMailIsRemoved_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	adapter, _ := f.run(t, settings, s.dial)
	connected(t, adapter)
	source, err := s.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	once := sync.OnceFunc(func() {
		s.locked(func() { s.vanish[s.next] = true })
		s.deliver(message(1))
		eventually(t, "it has vanished", func() bool { return f.position(t).Counts.Vanished == 1 })
	})
	report := f.audit(t, settings, &changed{MailSource: source, search: func(ctx context.Context, from, last uint32) ([]uint32, error) {
		if last == 0 { // the look sees it, right before it is removed
			once()
			return []uint32{1}, nil
		}
		return source.Search(ctx, from, last)
	}})
	if !report.Clean() {
		t.Errorf("gaps %v", report.Gaps)
	}
}

// TestRecoveredAreThoseThatWereTaken_I13: a gap counts as closed once it is.
func TestRecoveredAreThoseThatWereTaken_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	s.deliver(message(2))
	s.unlisted[1] = true
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	f.next(t)
	connected(t, adapter)
	f.intake.setError(errLost)
	s.locked(func() { delete(s.unlisted, 1) })
	eventually(t, "the gap was tried several times", func() bool { return s.dials() > 4 })
	f.intake.setError(nil)
	f.next(t)
	eventually(t, "it is closed", func() bool { return adapter.Status().Gaps == 0 && f.position(t).LowWater == 2 })
	eventually(t, "it is counted", func() bool { return f.position(t).Counts.Recovered > 0 })
	if recovered := f.position(t).Counts.Recovered; recovered != 1 {
		t.Errorf("%d were recovered", recovered)
	}
}

func (s *script) dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialed
}

// TestMoveOfMailThatIsGone_I16: a server that refuses to move what is not there any
// more, moved before a crash or removed by a person, goes on moving what is.
func TestMoveOfMailThatIsGone_I16(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.After = imap.After{Processed: imap.ProcessingMove, Folder: "Processed"}
	s.folders["Processed"] = 0
	removed := false
	s.deliver(message(1))
	s.deliver(message(2))
	f.run(t, settings, func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, move: func(ctx context.Context, uids []uint32, folder string) error {
			missing := false
			s.locked(func() {
				if !removed {
					delete(s.mail, 1) // by a person, right before
				}
				removed = true
				missing = slices.ContainsFunc(uids, func(uid uint32) bool { return s.mail[uid] == nil })
			})
			if missing {
				return &connection.RefusedError{Command: "MOVE", Type: "NO"}
			}
			return source.Move(ctx, uids, folder)
		}}, err
	})
	f.next(t)
	f.next(t)
	s.deliver(message(3))
	f.next(t)
	eventually(t, "the others were moved", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.folders["Processed"] == 2 && len(s.mail) == 0
	})
}

// TestTokenThatEndsAtOnce_I14: a provider whose tokens live for no time does not let
// the adapter knock without a pause.
func TestTokenThatEndsAtOnce_I14(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	_, stop := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return &changed{MailSource: source, renew: time.Now}, err
	})
	began := time.Now()
	eventually(t, "it has connected again", func() bool { return s.dials() > 3 })
	stop()
	if most := int(time.Since(began)/time.Second) + 2; s.dials() > most {
		t.Errorf("%d connections, at most %d in that time", s.dials(), most)
	}
}

// TestFirstContactWithALedgerThatIsDown_I07: what arrives after the first look at
// the mailbox is new mail, however long the ledger cannot note that look.
func TestFirstContactWithALedgerThatIsDown_I07(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	f.store.setLosing(true)
	settings := config("localhost", 1)
	settings.Since = time.Time{}
	adapter, _ := f.run(t, settings, s.dial)
	eventually(t, "it has tried", func() bool { return s.dials() > 2 })
	s.deliver(message(2))
	eventually(t, "it has tried again", func() bool { return s.dials() > 5 })
	f.store.setLosing(false)
	if _, mail := f.next(t); mail.UID != 2 {
		t.Errorf("UID %d", mail.UID)
	}
	connected(t, adapter)
	f.none(t)
}

// TestAuditWithoutItsLedger_I13: a mailbox whose events are stored was read; when
// its ledger is gone, mail that no event speaks of may be lost at the next contact.
func TestAuditWithoutItsLedger_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver(message(1))
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	f.next(t)
	connected(t, adapter)
	stop()
	keys, err := f.store.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := f.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	s.deliver(message(2))
	source, err := s.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report := f.audit(t, config("localhost", 1), source)
	if len(report.Gaps) != 1 || report.Gaps[0].Kind != audit.GapLedgerMissing || report.Gaps[0].First != 2 || report.Gaps[0].Last != 2 || report.Gaps[0].Advice == "" {
		t.Errorf("%s, gaps %v", outcomes(report), report.Gaps)
	}
}

// TestUIDValidityChangesBeforeTheNote_I04: mail whose event is stored, and whose note
// is lost when the server changes its UIDs, does not come once more under another id.
func TestUIDValidityChangesBeforeTheNote_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	adapter, _ := f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	f.store.setLosing(true)
	s.deliver(message(1))
	f.next(t)
	s.locked(func() {
		s.validity, s.next = 8, 12
		s.mail = map[uint32][]byte{11: message(1)}
		s.received = map[uint32]time.Time{11: time.Now()}
	})
	tried := s.dials()
	eventually(t, "it has connected again", func() bool { return s.dials() > tried+2 })
	for len(f.intake.submitted) > 0 { // what was offered until the change was seen
		if e, mail := f.next(t); mail.UIDValidity != 7 {
			t.Errorf("event %s", e.ID)
		}
	}
	f.store.setLosing(false)
	eventually(t, "it is known", func() bool { return f.position(t).UIDValidity == 8 && f.position(t).Counts.Known == 1 })
	f.none(t)
}

// TestUIDValidityChangesAfterACrash_I04: the same when the process was killed between
// the two, so that nothing but the event ledger knows of the mail.
func TestUIDValidityChangesAfterACrash_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	connected(t, adapter)
	s.deliver(message(1))
	f.next(t)
	eventually(t, "it is noted", func() bool { return f.position(t).Counts.Published == 1 })
	f.store.setLosing(true)
	s.deliver(message(2))
	f.next(t)
	stop()
	f.store.setLosing(false)
	s.locked(func() {
		s.validity, s.next = 8, 14
		s.mail = map[uint32][]byte{11: message(1), 12: message(2), 13: message(3)}
		now := time.Now()
		s.received = map[uint32]time.Time{11: now, 12: now, 13: now}
	})
	for len(f.intake.submitted) > 0 { // what was offered again while it could not be noted
		if e, mail := f.next(t); mail.UIDValidity != 7 {
			t.Errorf("event %s", e.ID)
		}
	}
	f.run(t, config("localhost", 1), s.dial)
	if e, mail := f.next(t); mail.UID != 13 {
		t.Errorf("event %s", e.ID)
	}
	eventually(t, "the others are known", func() bool { return f.position(t).UIDValidity == 8 && f.position(t).Counts.Known == 2 })
	f.none(t)
}
