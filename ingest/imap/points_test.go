package imap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"podium/ingest/imap"
	"podium/ingest/imap/audit"
	"podium/ingest/imap/connection"
)

// TestEveryMailboxHasItsOwnNumbers_I01: the same UID in two mailboxes is two messages.
func TestEveryMailboxHasItsOwnNumbers_I01(t *testing.T) {
	t.Parallel()
	inbox, orders, f := newScript(), newScript(), newFixture()
	inbox.deliver(message(1))
	orders.deliver(message(1))
	settings := config("localhost", 1)
	f.run(t, settings, inbox.dial)
	first, _ := f.next(t)
	settings.Mailbox = "Orders"
	f.run(t, settings, orders.dial)
	second, mail := f.next(t)
	if first.ID == second.ID || mail.Mailbox != "Orders" || !strings.Contains(second.Source, "/Orders;") {
		t.Errorf("ids %q and %q, source %q", first.ID, second.ID, second.Source)
	}
	for mailbox, want := range map[string]uint64{"INBOX": 1, "Orders": 1} {
		settings.Mailbox = mailbox
		if report := f.audit(t, settings, nil); report.Messages != want || !report.Clean() {
			t.Errorf("%s: %+v", mailbox, report)
		}
	}
}

// TestMessageIDDecidesNothing_I03: whoever repeats the Message-ID of another
// mail, or its every byte, suppresses nothing.
func TestMessageIDDecidesNothing_I03(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.deliver([]byte("Message-ID: <1@example.org>\r\nFrom: a@example.org\r\n\r\nthe first\r\n"))
	s.deliver([]byte("Message-ID: <1@example.org>\r\nFrom: b@example.org\r\n\r\nthe second\r\n"))
	s.deliver([]byte("Message-ID: <1@example.org>\r\nFrom: b@example.org\r\n\r\nthe second\r\n"))
	s.deliver([]byte("From: c@example.org\r\n\r\nwithout one\r\n"))
	f.run(t, config("localhost", 1), s.dial)
	ids := map[string]bool{}
	for range 4 {
		e, _ := f.next(t)
		ids[e.ID] = true
	}
	if len(ids) != 4 {
		t.Errorf("%d different ids", len(ids))
	}
}

// TestLooseUIDsAreRefused_I04: without lasting UIDs nobody could tell what was taken.
func TestLooseUIDsAreRefused_I04(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	s.loose = true
	s.deliver(message(1))
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	eventually(t, "it says why", func() bool { return strings.Contains(adapter.Status().Problem, "UIDNOTSTICKY") })
	stop()
	f.none(t)
}

// twice lists every message two times.
type twice struct{ connection.MailSource }

// Search implements connection.MailSource.
func (l twice) Search(ctx context.Context, from, last uint32) ([]uint32, error) {
	uids, err := l.MailSource.Search(ctx, from, last)
	return append(uids, uids...), err
}

func TestMessageThatIsFoundTwiceComesOnce_I05(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	for number := range 3 {
		s.deliver(message(number + 1))
	}
	adapter, stop := f.run(t, config("localhost", 1), func(ctx context.Context) (connection.MailSource, error) {
		source, err := s.dial(ctx)
		return twice{source}, err
	})
	ids := map[string]bool{}
	for range 3 {
		e, _ := f.next(t)
		ids[e.ID] = true
	}
	connected(t, adapter)
	stop()
	for len(f.intake.submitted) > 0 {
		if e := <-f.intake.submitted; !ids[e.ID] {
			t.Errorf("event %s is a mail's second", e.ID)
		}
	}
	if report := f.audit(t, config("localhost", 1), nil); report.Messages != 3 || !report.Clean() || len(ids) != 3 {
		t.Errorf("%+v, %d ids", report, len(ids))
	}
}

// TestMailIsMoved_I16: into a mailbox that is made for it, once the ledger has it;
// a connection that breaks before costs the move nothing.
func TestMailIsMoved_I16(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.After = imap.After{Processed: imap.ProcessingMove, Failed: "Failed"}
	for number := range 4 {
		s.deliver(message(number + 1))
	}
	s.refuse[3], s.breakMove = true, true
	adapter, stop := f.run(t, settings, s.dial)
	for range 3 {
		f.next(t)
	}
	eventually(t, "all are moved", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.folders["Processed"] == 3 && s.folders["Failed"] == 1 && len(s.mail) == 0
	})
	connected(t, adapter)
	stop()
	f.none(t)
	if report := f.audit(t, settings, nil); !report.Clean() || report.Messages != 4 || report.Count(audit.OutcomeFailed) != 1 {
		t.Errorf("%+v", report)
	}
}

// TestRefusedMoveKeepsTheMail_I16: then the flag is set, and everything goes on.
func TestRefusedMoveKeepsTheMail_I16(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.After = imap.After{Processed: imap.ProcessingMove}
	s.noMove = true
	f.run(t, settings, s.dial)
	for number := range 3 {
		s.deliver(message(number + 1))
		f.next(t)
	}
	eventually(t, "they are flagged", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.flagged) == 3 && len(s.mail) == 3 && s.dialed == 1
	})
}

// TestConnectionIsReplacedBeforeItsTokenEnds_I14, without a wait, a warning or a loss.
func TestConnectionIsReplacedBeforeItsTokenEnds_I14(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	settings := config("localhost", 1)
	settings.BackOffMin, settings.BackOffMax = time.Hour, time.Hour
	s.renewAt = time.Now().Add(100 * time.Millisecond)
	adapter, _ := f.run(t, settings, func(ctx context.Context) (connection.MailSource, error) {
		s.locked(func() {
			if s.dialed > 0 {
				s.renewAt = time.Time{}
			}
		})
		return s.dial(ctx)
	})
	eventually(t, "it connects again", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.dialed == 2
	})
	s.deliver(message(1))
	f.next(t)
	if status := adapter.Status(); !status.Connected || status.Problem != "" || strings.Contains(f.log.String(), "warn") {
		t.Errorf("status %+v\n%s", status, f.log)
	}
}

// TestAdaptersOfOneHostWaitTogether_I12: an outage that ends five connections is one
// failure, and a refused password stops all adapters of that user and no others.
func TestAdaptersOfOneHostWaitTogether_I12(t *testing.T) {
	t.Parallel()
	f, host := newFixture(), imap.NewHost()
	var mu sync.Mutex
	dials := map[string]int{}
	for _, mailbox := range []string{"A", "B", "C", "D", "E"} {
		settings := config("localhost", 1)
		settings.Mailbox, settings.BackOffMin, settings.BackOffMax = mailbox, time.Hour, time.Hour
		failure := connection.ErrSilent
		if mailbox == "E" {
			settings.Username, failure = "other", nil
		}
		good := newScript()
		adapter, err := imap.New(settings, imap.Dependencies{
			Intake: f.intake, Core: f.core, Store: f.store, Log: zerolog.New(io.Discard), Host: host,
			Dial: func(ctx context.Context) (connection.MailSource, error) {
				mu.Lock()
				dials[settings.Username]++
				mu.Unlock()
				if failure != nil {
					return nil, fmt.Errorf("%w: %w", connection.ErrAuthentication, errors.New("refused"))
				}
				return good.dial(ctx)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- adapter.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		if mailbox == "E" {
			connected(t, adapter)
		}
	}
	eventually(t, "the first has been refused", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return dials[config("", 0).Username] == 1 && dials["other"] == 1
	})
}

// TestFirstContactWithALargeMailbox_I07: a mailbox of 50,000 messages with a hole
// behind each is passed over in pieces that the store takes.
func TestFirstContactWithALargeMailbox_I07(t *testing.T) {
	t.Parallel()
	const messages = 50_000
	s, f := newScript(), newFixture()
	for number := range uint32(messages) {
		s.mail[2*number+1] = []byte("old")
	}
	s.next = 2*messages + 1
	settings := config("localhost", 1)
	settings.Since = time.Time{}
	adapter, stop := f.run(t, settings, s.dial)
	connected(t, adapter)
	s.deliver(message(1))
	if _, mail := f.next(t); mail.UID != 2*messages+1 {
		t.Errorf("UID %d", mail.UID)
	}
	eventually(t, "all is dealt with", func() bool { return f.position(t).LowWater == 2*messages+1 })
	stop()
	f.none(t)
	if f.store.largest > 64<<10 {
		t.Errorf("the largest entry has %d bytes", f.store.largest)
	}
	source, _ := s.dial(t.Context())
	if report := f.audit(t, settings, source); !report.Clean() || report.Count(audit.OutcomeIgnored) != messages || report.Messages != messages+1 {
		t.Errorf("audit %s, %d gaps", outcomes(report), len(report.Gaps))
	}
}

// TestBacklogBeyondOneWindow_I07: with since: all, UIDs that are far apart are all
// found, the ones that come meanwhile too.
func TestBacklogBeyondOneWindow_I07(t *testing.T) {
	t.Parallel()
	s, f := newScript(), newFixture()
	want := map[uint32]bool{}
	for _, uid := range []uint32{1, 49_999, 50_000, 50_001, 123_456, 1_000_000, 1_000_001} {
		s.mail[uid], want[uid] = message(int(uid)), true
	}
	s.next = 1_000_002
	adapter, stop := f.run(t, config("localhost", 1), s.dial)
	for range 7 {
		_, mail := f.next(t)
		if !want[mail.UID] {
			t.Errorf("UID %d", mail.UID)
		}
		delete(want, mail.UID)
	}
	connected(t, adapter)
	s.deliver(message(8))
	f.next(t)
	connected(t, adapter)
	stop()
	f.none(t)
	source, _ := s.dial(t.Context())
	if report := f.audit(t, config("localhost", 1), source); !report.Clean() || report.Messages != 8 {
		t.Errorf("audit %+v", report)
	}
}
