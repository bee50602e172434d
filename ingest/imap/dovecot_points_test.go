package imap_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/ingest/imap"
	"podium/ingest/imap/audit"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

// TestMoveOnARealServer_I16: with MOVE, without it, and without UIDPLUS too. A
// message that someone else has flagged \Deleted stays where it is.
func TestMoveOnARealServer_I16(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		capability string
		left       int // messages in INBOX, that of someone else included
	}{
		"everything":      {"", 1},
		"without MOVE":    {dovecot.WithoutExtensions + " UIDPLUS", 1},
		"without UIDPLUS": {dovecot.WithoutExtensions, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, f := dovecot.Start(t, dovecot.Options{Capability: test.capability}), newFixture()
			server.Deliver(t, message(99))
			server.Doveadm(t, "flags", "add", "-u", dovecot.Username, `\Deleted`, "mailbox", "INBOX", "ALL")
			settings := config(server.Host, server.Port)
			settings.Since = time.Time{}
			settings.After = imap.After{Processed: imap.ProcessingMove, Folder: "Done"}
			adapter, stop := f.run(t, settings, nil)
			connected(t, adapter)
			for number := range 3 {
				server.Deliver(t, message(number))
				f.next(t)
			}
			eventually(t, "all are moved", func() bool {
				return strings.Count(server.Doveadm(t, "search", "-u", dovecot.Username, "mailbox", "Done", "ALL"), "\n") == 3
			})
			eventually(t, "INBOX holds the rest", func() bool { return len(server.Flags(t)) == test.left })
			if flags := server.Flags(t); !strings.Contains(flags[0], `\Deleted`) {
				t.Errorf("flags %v", flags)
			}
			stop()
			f.none(t)
			if report := f.audit(t, settings, nil); !report.Clean() || report.Messages != 4 {
				t.Errorf("audit %+v", report)
			}
		})
	}
}

// TestFailedCopyKeepsTheMail_I16: the server has no room for a mailbox of that
// name, and the message is still there, flagged as dealt with.
func TestFailedCopyKeepsTheMail_I16(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{Capability: dovecot.WithoutExtensions + " UIDPLUS"}), newFixture()
	settings := config(server.Host, server.Port)
	settings.After = imap.After{Processed: imap.ProcessingMove, Folder: strings.Repeat("x", 300)}
	adapter, _ := f.run(t, settings, nil)
	connected(t, adapter)
	server.Deliver(t, message(1))
	f.next(t)
	eventually(t, "it is flagged, and there", func() bool {
		flags := server.Flags(t)
		return len(flags) == 1 && strings.Contains(flags[0], "$PodiumIngested") && !strings.Contains(flags[0], "Deleted")
	})
}

// TestSeveralMailboxes_I12 of one account, each with its own adapter, at one host.
func TestSeveralMailboxes_I12(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	server.Doveadm(t, "mailbox", "create", "-u", dovecot.Username, "Orders")
	settings := config(server.Host, server.Port)
	inbox, _ := f.run(t, settings, nil)
	settings.Mailbox = "Orders"
	orders, _ := f.run(t, settings, nil)
	connected(t, inbox)
	connected(t, orders)
	server.Deliver(t, message(1))
	first, mail := f.next(t)
	if mail.Mailbox != "INBOX" {
		t.Errorf("mail %+v", mail)
	}
	server.Doveadm(t, "move", "-u", dovecot.Username, "Orders", "mailbox", "INBOX", "ALL")
	second, mail := f.next(t)
	if mail.Mailbox != "Orders" || first.ID == second.ID {
		t.Errorf("mail %+v, ids %s and %s", mail, first.ID, second.ID)
	}
}

// TestCanaryGoesTheWholeWay_I13: it comes in, is accounted for, starts nothing and
// leaves nothing in the mailbox.
func TestCanaryGoesTheWholeWay_I13(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	settings := config(server.Host, server.Port)
	settings.CanaryEvery, settings.CanaryKey = time.Hour, []byte("key")
	marks := make(chan string, 1)
	f.sendCanary = func(_ context.Context, mark string) error {
		marks <- mark
		return nil
	}
	adapter, stop := f.run(t, settings, nil)
	connected(t, adapter)
	server.Deliver(t, []byte("From: a@example.org\r\nTo: a@example.org\r\n"+imap.CanaryHeader+": "+<-marks+"\r\n\r\nproof\r\n"))
	eventually(t, "it has come in", func() bool { return !adapter.Status().Canary.Received.IsZero() })
	if canary := adapter.Status().Canary; canary.RoundTrip <= 0 || canary.RoundTrip > time.Minute || canary.Overdue {
		t.Errorf("canary %+v", canary)
	}
	eventually(t, "it is removed", func() bool { return len(server.Flags(t)) == 0 })
	stop()
	f.none(t)
	report := f.audit(t, settings, nil)
	if !report.Clean() || report.Messages != 1 || report.Tallies[0] != (audit.Tally{Outcome: audit.OutcomeIgnored, Reason: "canary", Messages: 1}) {
		t.Errorf("audit %+v", report)
	}
}

// TestLookingChangesNothing: what is shown is what would be published, and flags,
// UIDs and the ledger are as before.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	for number := range 5 {
		server.Deliver(t, message(number))
	}
	server.Deliver(t, []byte("From: a@b.c\r\nSubject: photo\r\nAuto-Submitted: auto-replied\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nlook\r\n--b\r\nContent-Type: image/png; name=a.png\r\n\r\npixels\r\n--b--\r\n"))
	server.Doveadm(t, "flags", "add", "-u", dovecot.Username, `\Flagged`, "mailbox", "INBOX", "UID", "3")
	state := func() string {
		return server.Doveadm(t, "-f", "tab", "fetch", "-u", dovecot.Username, "uid flags modseq", "mailbox", "INBOX") +
			server.Doveadm(t, "mailbox", "status", "-u", dovecot.Username, "uidnext uidvalidity unseen recent", "INBOX")
	}
	before := state()
	settings := config(server.Host, server.Port)
	settings.ReadOnly = true
	source, err := imap.Connect(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	var seen []imap.Preview
	err = imap.LookAt(t.Context(), settings, source, 3, func(preview imap.Preview) error {
		seen = append(seen, preview)
		return nil
	})
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d messages (%v)", len(seen), err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if after := state(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if keys, err := f.store.Keys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("the ledger holds %v (%v)", keys, err)
	}
	uids := []uint32{seen[0].UID, seen[1].UID, seen[2].UID}
	if last := seen[2].Mail; !slices.Equal(uids, []uint32{4, 5, 6}) || last.Class != schemas.MailAutoReply || len(last.Attachments) != 1 || last.Attachments[0].Artifact.Size != 6 {
		t.Errorf("UIDs %v, the last %+v", uids, last)
	}

	// An adapter publishes the same.
	f.run(t, settings, nil)
	for range 3 {
		f.next(t)
	}
	for i := range seen {
		e, mail := f.next(t)
		got, err := schemas.Marshal(seen[i].Mail)
		if err != nil || !bytes.Equal(got, e.Data) || seen[i].Session != e.Session() {
			t.Errorf("UID %d: shown\n%s\npublished\n%s (%v)", mail.UID, got, e.Data, err)
		}
	}
}

// TestTokensOnARealServer_I14: XOAUTH2 and OAUTHBEARER with a server that asks the
// provider whose a token is; one that it does not know counts as refused.
func TestTokensOnARealServer_I14(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("access_token") != "good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"username":"` + dovecot.Username + `"}`))
	}))
	t.Cleanup(provider.Close)
	for name, mechanisms := range map[string]string{"OAUTHBEARER": "xoauth2 oauthbearer", "XOAUTH2": "xoauth2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dovecot.Start(t, dovecot.Options{TokenInfo: provider.URL + "/?access_token=", Mechanisms: mechanisms})
			f, settings := newFixture(), config(server.Host, server.Port)
			settings.Password, settings.BackOffMax = nil, time.Hour
			var token atomic.Value
			token.Store("good")
			settings.Token = func(context.Context) (string, time.Time, error) {
				return token.Load().(string), time.Now().Add(time.Hour), nil
			}
			server.Deliver(t, message(1))
			_, stop := f.run(t, settings, nil)
			f.next(t)
			stop()
			token.Store("revoked")
			adapter, _ := f.run(t, settings, nil)
			eventually(t, "the refusal shows", func() bool { return adapter.Status().Problem == connection.ErrAuthentication.Error() })
		})
	}
}
