package imap_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"podium/ingest/imap"
	"podium/ingest/imap/audit"
)

// lose removes entries from the store whose keys hold a text, as a loss of power may.
func (f *fixture) lose(tb testing.TB, text string) {
	tb.Helper()
	keys, err := f.store.Keys(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	lost := 0
	for _, key := range keys {
		if strings.Contains(key, text) {
			if err := f.store.Delete(tb.Context(), key); err != nil {
				tb.Fatal(err)
			}
			lost++
		}
	}
	if lost == 0 {
		tb.Fatalf("no key of %v holds %q", keys, text)
	}
}

// takes expects the next events to be of these messages, and no others.
func (f *fixture) takes(tb testing.TB, adapter *imap.Adapter, want ...uint32) {
	tb.Helper()
	var got []uint32
	for range want {
		_, mail := f.next(tb)
		got = append(got, mail.UID)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		tb.Errorf("messages %v came, want %v", got, want)
	}
	connected(tb, adapter)
	f.none(tb)
}

// rebuilt expects log and health to say that the mailbox ledger was lost.
func (f *fixture) rebuilt(tb testing.TB, adapter *imap.Adapter) {
	tb.Helper()
	if status := adapter.Status(); status.Rebuilt.IsZero() || !status.Healthy() {
		tb.Errorf("status %+v", status)
	}
	if !strings.Contains(f.log.String(), "the ledger of the mailbox was lost") {
		tb.Errorf("the log says nothing of it:\n%s", f.log)
	}
}

// TestLostLedgerIsNoFirstContact: a mailbox whose ledger is gone, and of which events are
// stored, is not met for the first time: what waits is taken, what has an event is not taken
// again, and what was older than asked for at first contact is it still.
func TestLostLedgerIsNoFirstContact_I07(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]time.Time{
		"now": {}, "a date": time.Date(2026, 1, 5, 9, 0, 4, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := newScript(), newFixture()
			settings := config("localhost", 1)
			settings.Since, settings.After = since, imap.After{Processed: imap.ProcessingMove}
			for number := range 3 {
				s.deliver(message(number + 1)) // older than was asked for
			}
			adapter, stop := f.run(t, settings, s.dial)
			connected(t, adapter)
			for number := range 3 {
				s.deliver(message(number + 4))
				f.takes(t, adapter, uint32(number+4)) //nolint:gosec // small
			}
			eventually(t, "they are moved", func() bool { return s.movedTo("Processed") == 3 })
			stop()
			s.locked(func() { s.mail[6] = message(6) }) // it was not moved yet
			f.lose(t, "mailbox.")
			s.deliver(message(7))
			s.deliver(message(8))
			adapter, stop = f.run(t, settings, s.dial)
			f.takes(t, adapter, 7, 8)
			f.rebuilt(t, adapter)
			eventually(t, "what was taken is moved, what was left over too", func() bool { return s.movedTo("Processed") == 6 })
			s.deliver(message(9))
			f.takes(t, adapter, 9)
			stop()
			source, _ := s.dial(t.Context())
			if report := f.audit(t, settings, source); !report.Clean() || report.Messages != 9 || report.Count(audit.OutcomeIgnored) != 3 {
				t.Errorf("audit %s, gaps %v", outcomes(report), report.Gaps)
			}
			if counts := f.position(t).Counts; counts.Published != 6 || counts.Old != 3 {
				t.Errorf("counts %+v", counts)
			}
			adapter, _ = f.run(t, settings, s.dial) // it stays said
			connected(t, adapter)
			f.rebuilt(t, adapter)
			f.none(t)
		})
	}
}

func (s *script) movedTo(folder string) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folders[folder]
}

// TestLostLedgerAndNewUIDs: the same when the server has changed every UID meanwhile: what
// was published is known by its bytes.
func TestLostLedgerAndNewUIDs_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.Since = time.Time{}
	adapter, stop := f.run(t, settings, s.dial)
	connected(t, adapter)
	for number := range 3 {
		s.deliver(message(number + 1))
		f.next(t)
	}
	eventually(t, "they are noted", func() bool { return f.position(t).Counts.Published == 3 })
	stop()
	f.lose(t, "mailbox.")
	s.locked(func() {
		s.validity, s.mail = 8, map[uint32][]byte{11: message(1), 12: message(2), 13: message(3)}
		s.received = map[uint32]time.Time{11: s.received[1], 12: s.received[2], 13: s.received[3]}
		s.next = 14
	})
	s.deliver(message(4))
	adapter, stop = f.run(t, settings, s.dial)
	f.takes(t, adapter, 14)
	f.rebuilt(t, adapter)
	stop()
	if position := f.position(t); position.Counts.Known != 3 || position.UIDValidity != 8 {
		t.Errorf("ledger %+v", position)
	}
}

// TestLostDispositionsAreMadeAgain: a ledger that lacks a part of its dispositions is made whole, and
// loses nothing of the rest.
func TestLostDispositionsAreMadeAgain_I13(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.Since = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const old = 3000
	for number := range uint32(old) {
		s.mail[2*number+1], s.received[2*number+1] = []byte("old"), settings.Since.AddDate(-1, 0, 0)
	}
	for _, uid := range []uint32{1000, 2000, 3000} {
		s.mail[uid], s.received[uid] = message(int(uid)), settings.Since.AddDate(0, 0, 1)
	}
	s.next = 2*old + 1
	adapter, stop := f.run(t, settings, s.dial)
	f.takes(t, adapter, 1000, 2000, 3000)
	s.deliver(message(1))
	f.takes(t, adapter, 2*old+1)
	stop()
	if f.position(t).DispositionChunks == 0 {
		t.Fatal("all dispositions are in one entry")
	}
	f.lose(t, ".disposition.7.000000")
	s.deliver(message(2))
	adapter, stop = f.run(t, settings, s.dial)
	f.takes(t, adapter, 2*old+2)
	eventually(t, "the old ones are accounted for", func() bool { return adapter.Status().Gaps == 0 && f.position(t).Counts.Old >= old })
	f.rebuilt(t, adapter)
	stop()
	f.none(t)
	source, _ := s.dial(t.Context())
	if report := f.audit(t, settings, source); !report.Clean() || report.Messages != old+5 || report.Count(audit.OutcomeIgnored) != old {
		t.Errorf("audit %s, gaps %v", outcomes(report), report.Gaps)
	}
}

// TestLostMemoryIsMadeAgain: a ledger that lacks some of the messages that are known by
// their bytes takes none of them for new.
func TestLostMemoryIsMadeAgain_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	const mails = 600
	for number := range mails {
		s.deliver(message(number + 1))
	}
	_, stop := f.run(t, config("localhost", 1), s.dial)
	for range mails {
		f.next(t)
	}
	eventually(t, "they are noted", func() bool { return f.position(t).Counts.Published == mails })
	stop()
	f.lose(t, ".known.000000")
	s.locked(func() { // the server changes every UID
		s.validity, s.next = 8, 1001+mails
		for uid := uint32(1); uid <= mails; uid++ {
			s.mail[1000+uid], s.received[1000+uid] = s.mail[uid], s.received[uid]
			delete(s.mail, uid)
		}
	})
	s.deliver(message(mails + 1))
	adapter, end := f.run(t, config("localhost", 1), s.dial)
	f.takes(t, adapter, 1001+mails)
	f.rebuilt(t, adapter)
	end()
	if counts := f.position(t).Counts; counts.Known != mails {
		t.Errorf("counts %+v", counts)
	}
}
