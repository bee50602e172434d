package imap_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/bus"
	"podium/ingest/imap"
	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/schemas"
)

func TestNewMailBecomesOneEvent_X01(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	settings := config(server.Host, server.Port)
	settings.PollInterval = time.Minute // so that only the announcement can bring it
	adapter, _ := f.run(t, settings, nil)
	connected(t, adapter)

	raw := message(1)
	server.Deliver(t, raw)
	e, mail := f.next(t)

	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	if violations := schemas.Validate("email_received", e.Data); violations != nil {
		t.Errorf("the event's data does not validate: %v", violations)
	}
	prefix, suffix := "imap:support:", fmt.Sprintf(":%d:1", mail.UIDValidity)
	if !strings.HasPrefix(e.ID, prefix) || !strings.HasSuffix(e.ID, suffix) {
		t.Errorf("id %q is not %s…%s", e.ID, prefix, suffix)
	}
	source := fmt.Sprintf("imap://127.0.0.1:%d/INBOX;UIDVALIDITY=%d", server.Port, mail.UIDValidity)
	if e.Source != source || e.Type != schemas.TypeEmailReceived || e.Profile != profile || e.PartitionKey != "1@example.org" {
		t.Errorf("attributes %+v", e)
	}
	if mail.Subject != "Mail 1" || mail.Text != "Text 1" || mail.UID != 1 || mail.Account != account || mail.Mailbox != "INBOX" || mail.Parse != schemas.ParseOK {
		t.Errorf("mail %+v", mail)
	}
	if mail.Received.IsZero() || !e.Time.Equal(mail.Received) {
		t.Errorf("received %v, event's time %v", mail.Received, e.Time)
	}
	sum := sha256.Sum256(raw)
	if mail.Raw.SHA256 != hex.EncodeToString(sum[:]) || !bytes.Equal(f.artifact(t, mail.Raw.SHA256), raw) {
		t.Error("the archived mail has other bytes")
	}
	eventually(t, "the flag is set, and \\Seen is not", func() bool {
		flags := server.Flags(t)
		return len(flags) == 1 && strings.Contains(flags[0], "$PodiumIngested") && !strings.Contains(flags[0], "Seen")
	})
	eventually(t, "the announcement is trusted", func() bool { return adapter.Status().Trust == imap.TrustPush })
	f.none(t)
}

func (f *fixture) artifact(tb testing.TB, sha256 string) []byte {
	tb.Helper()
	r, err := f.core.Artifacts().Get(tb.Context(), schemas.Artifact{SHA256: sha256})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func TestPollWhereNothingIsAnnounced_I11(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{Capability: dovecot.WithoutExtensions}), newFixture()
	adapter, _ := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	for number := range 3 {
		server.Deliver(t, message(number))
		if _, mail := f.next(t); mail.UID != uint32(number+1) {
			t.Errorf("mail %d has UID %d", number, mail.UID)
		}
	}
	if trust := adapter.Status().Trust; trust != imap.TrustNone {
		t.Errorf("trust %q", trust)
	}
}

func TestFirstContactTakesNothing_I07(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	for number := range 5 {
		server.Deliver(t, message(number))
	}
	settings := config(server.Host, server.Port)
	settings.Since = time.Time{}
	adapter, stop := f.run(t, settings, nil)
	connected(t, adapter)
	server.Deliver(t, message(5))
	if _, mail := f.next(t); mail.Subject != "Mail 5" {
		t.Errorf("got %q", mail.Subject)
	}
	// Not even a change of every UID brings it in.
	stop()
	server.SetUIDValidity(t, 4242)
	adapter, _ = f.run(t, settings, nil)
	connected(t, adapter)
	f.none(t)
}

func TestReconnects_I08(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	adapter, _ := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	server.Deliver(t, message(1))
	f.next(t)

	server.Kick(t)
	server.Deliver(t, message(2))
	if _, mail := f.next(t); mail.UID != 2 {
		t.Errorf("after a kick: UID %d", mail.UID)
	}
	server.Stop(t)
	eventually(t, "the adapter notices", func() bool { return !adapter.Status().Connected && adapter.Status().Problem != "" })
	server.Deliver(t, message(3))
	server.Restart(t)
	if _, mail := f.next(t); mail.UID != 3 {
		t.Errorf("after a restart: UID %d", mail.UID)
	}
	caughtUpOrConnected(t, adapter)
	f.none(t)
}

func caughtUpOrConnected(tb testing.TB, adapter *imap.Adapter) {
	tb.Helper()
	eventually(tb, "the adapter is well", func() bool { return adapter.Status().Connected && adapter.Status().Lag == 0 })
}

func TestHalfOpenConnectionIsNoticed_I09(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	between := newProxy(t, server.Host, server.Port)
	settings := config(server.Host, between.port(t))
	settings.AnswerDeadline = 3 * time.Second // which a real server keeps on a busy machine
	adapter, _ := f.run(t, settings, nil)
	connected(t, adapter)
	between.setSilent(true)
	server.Deliver(t, message(1))
	eventually(t, "the silence is noticed", func() bool { return strings.Contains(adapter.Status().Problem, connection.ErrSilent.Error()) })
	between.setSilent(false)
	if _, mail := f.next(t); mail.UID != 1 {
		t.Errorf("UID %d", mail.UID)
	}
}

func TestLostCursorWritePublishesTheSameID_I02(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	adapter, stop := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	f.store.setLosing(true)
	server.Deliver(t, message(1))
	first, _ := f.next(t)
	again, _ := f.next(t) // the same adapter, after it has connected anew
	stop()
	f.store.setLosing(false)
	for { // what was published while writes were lost
		select {
		case e := <-f.intake.submitted:
			again = e
			continue
		default:
		}
		break
	}
	adapter, stop = f.run(t, config(server.Host, server.Port), nil) // another process
	other, _ := f.next(t)
	connected(t, adapter)
	if first.ID != again.ID || first.ID != other.ID || first.PartitionKey != other.PartitionKey || first.Source != other.Source {
		t.Errorf("ids %q, %q, %q", first.ID, again.ID, other.ID)
	}
	if !bytes.Equal(first.Data, other.Data) {
		t.Error("the same mail has different data")
	}
	stop()
	adapter, _ = f.run(t, config(server.Host, server.Port), nil) // once the write came through, it is over
	connected(t, adapter)
	f.none(t)
}

func TestLedgerDownLosesNothing_I02(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	adapter, _ := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	f.intake.setError(bus.ErrFull)
	server.Deliver(t, message(1))
	server.Deliver(t, message(2))
	eventually(t, "the adapter says why", func() bool { return adapter.Status().Problem == bus.ErrFull.Error() })
	f.intake.setError(nil)
	for number := range 2 {
		if _, mail := f.next(t); mail.UID != uint32(number+1) {
			t.Errorf("UID %d in place of %d", mail.UID, number+1)
		}
	}
}

func TestChangedUIDValidityBringsNothingTwice_I04(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	adapter, stop := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	for number := range 10 {
		server.Deliver(t, message(number))
	}
	ids := map[string]bool{}
	for range 10 {
		e, _ := f.next(t)
		ids[e.ID] = true
	}
	if len(ids) != 10 {
		t.Fatalf("%d different ids", len(ids))
	}
	caughtUpOrConnected(t, adapter)
	server.SetUIDValidity(t, 4242) // the open connection is ended by it
	server.Deliver(t, message(10))
	e, mail := f.next(t)
	if mail.UIDValidity != 4242 || mail.Subject != "Mail 10" || ids[e.ID] {
		t.Errorf("event %s, UIDVALIDITY %d, %q", e.ID, mail.UIDValidity, mail.Subject)
	}
	stop()
	server.SetUIDValidity(t, 4243) // now while nobody looks
	server.Deliver(t, message(11))
	f.run(t, config(server.Host, server.Port), nil)
	if _, mail := f.next(t); mail.UIDValidity != 4243 || mail.Subject != "Mail 11" {
		t.Errorf("UIDVALIDITY %d, %q", mail.UIDValidity, mail.Subject)
	}
	f.none(t)
}

func TestMalformedMailStopsNobody_I15(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	malformed := map[string]schemas.ParseState{
		"From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ncut": schemas.ParseDegraded,
		"no header at all\r\n": schemas.ParseDegraded,
		"\xff\xfe\x80\x01":     schemas.ParseDegraded,
		"From: a@b.c\r\nSubject: " + strings.Repeat("x", 2<<20) + "\r\n\r\ntext\r\n":                      schemas.ParseDegraded,
		"From: \xff\xfe <>\r\nTo: ,,,,\r\nDate: never\r\nSubject: =?x?y?z?=\r\n\r\n\x80\x80 text\r\n":     schemas.ParseDegraded,
		"From: a@b.c\r\nContent-Type: text/plain; charset=nonsense\r\n\r\ntext that is good\r\n":          schemas.ParseDegraded,
		"From: a@b.c\r\nContent-Transfer-Encoding: base64\r\nContent-Type: image/png\r\n\r\n!!!!\r\n":     schemas.ParseDegraded,
		strings.Repeat("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", 50):                    schemas.ParseDegraded,
		"From: a@b.c\r\nSubject: good\r\nMessage-ID: <good@example.org>\r\n\r\nthe one that is all right": schemas.ParseOK,
	}
	states := map[string]schemas.ParseState{}
	for raw, state := range malformed {
		server.Deliver(t, []byte(raw))
		sum := sha256.Sum256([]byte(raw))
		states[hex.EncodeToString(sum[:])] = state
	}
	f.run(t, config(server.Host, server.Port), nil)
	for range malformed {
		e, mail := f.next(t)
		want, known := states[mail.Raw.SHA256]
		if !known || len(f.artifact(t, mail.Raw.SHA256)) != int(mail.Raw.Size) {
			t.Errorf("mail %d is not archived as it was", mail.UID)
		}
		if mail.Parse != want || (want != schemas.ParseOK) != (len(mail.Problems) > 0) {
			t.Errorf("mail %d is %s %v, want %s", mail.UID, mail.Parse, mail.Problems, want)
		}
		if violations := schemas.Validate("email_received", e.Data); violations != nil {
			t.Errorf("mail %d does not validate: %v", mail.UID, violations)
		}
		delete(states, mail.Raw.SHA256)
	}
}

func TestLargeMail(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	part := bytes.Repeat([]byte("0123456789abcde\r\n"), 20<<20/17)
	raw := slices.Concat([]byte("From: a@b.c\r\nSubject: large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nlook\r\n--b\r\nContent-Type: application/zip; name=a.zip\r\n\r\n"), part, []byte("\r\n--b--\r\n"))
	server.Deliver(t, raw)
	server.Deliver(t, message(1))
	f.run(t, config(server.Host, server.Port), nil)
	_, mail := f.next(t)
	if mail.Text != "look" || len(mail.Attachments) != 1 || mail.Raw.Size != int64(len(raw)) || mail.Parse != schemas.ParseOK {
		t.Fatalf("mail of %d bytes is %s %v, raw %d, %d attachments", len(raw), mail.Parse, mail.Problems, mail.Raw.Size, len(mail.Attachments))
	}
	if got := f.artifact(t, mail.Attachments[0].Artifact.SHA256); !bytes.Equal(got, part) {
		t.Errorf("the attachment has %d bytes, want %d", len(got), len(part))
	}
	f.next(t)
}

func TestTooLargeMailIsTakenInPart(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	raw := append([]byte("From: a@b.c\r\nSubject: huge\r\n\r\n"), bytes.Repeat([]byte("0123456789abcde\r\n"), 12<<20/17)...)
	server.Deliver(t, raw)
	settings := config(server.Host, server.Port)
	settings.MaxMessage = 9 << 20
	f.run(t, settings, nil)
	_, mail := f.next(t)
	if mail.Subject != "huge" || mail.Parse != schemas.ParseDegraded || mail.Raw.Size != 1<<20 {
		t.Errorf("%q, %s, raw %d bytes", mail.Subject, mail.Parse, mail.Raw.Size)
	}
}

func TestWrongPasswordIsNoNetworkFailure_I12(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	settings := config(server.Host, server.Port)
	settings.Username = "intruder"
	settings.BackOffMax = time.Hour
	adapter, _ := f.run(t, settings, nil)
	eventually(t, "the refusal shows", func() bool { return adapter.Status().Problem == connection.ErrAuthentication.Error() })
	if adapter.Status().Connected {
		t.Error("it is called connected")
	}
}

func TestLogHoldsNoPersonalData_G37(t *testing.T) {
	t.Parallel()
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	adapter, _ := f.run(t, config(server.Host, server.Port), nil)
	connected(t, adapter)
	server.Deliver(t, []byte("From: Erika Geheim <erika@geheim.example>\r\nSubject: Diagnose\r\nMessage-ID: <befund@geheim.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nBauchweh"))
	f.next(t)
	server.Kick(t)
	eventually(t, "something is logged", func() bool { return strings.Count(f.log.String(), "\n") > 1 })
	for _, secret := range []string{"Erika", "geheim", "Diagnose", "befund", "Bauchweh", dovecot.Username, dovecot.Password} {
		if strings.Contains(f.log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, f.log)
		}
	}
}

func TestThroughput(t *testing.T) {
	t.Parallel()
	const mails = 500
	server, f := dovecot.Start(t, dovecot.Options{}), newFixture()
	for number := range mails {
		server.Deliver(t, message(number))
	}
	began := time.Now()
	adapter, _ := f.run(t, config(server.Host, server.Port), nil)
	for number := range mails {
		if _, mail := f.next(t); mail.UID != uint32(number+1) {
			t.Fatalf("UID %d in place of %d", mail.UID, number+1)
		}
	}
	t.Logf("%d mails in %v", mails, time.Since(began))
	caughtUpOrConnected(t, adapter)
	if lag := adapter.Status().Lag; lag != 0 {
		t.Errorf("lag %d", lag)
	}
}
