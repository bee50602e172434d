package connection_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
)

const letterID = "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11@praxis.example"

func effectOf(id string) string { effect, _, _ := strings.Cut(id, "@"); return effect }

func letter(id string) []byte {
	return []byte("From: a@praxis.example\r\nSubject: x\r\nMessage-ID: <" + id + ">\r\n\r\nhello\r\n")
}

// A letter that was put into the folder is found there by its Message-ID, or by what
// that begins with, and no other one is (I25).
func TestSentFolderFindsWhatWasAppended_I25(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		create     []string // arguments of doveadm mailbox
		configured string
		folder     string
	}{
		"usual name":           {create: []string{"create", "-u", dovecot.Username, "Sent"}, folder: "Sent"},
		"other usual name":     {create: []string{"create", "-u", dovecot.Username, "Sent Items"}, folder: "Sent Items"},
		"marked by the server": {create: []string{"create", "-u", dovecot.Username, "Sent", "Versandt"}, folder: "Versandt"},
		"configured":           {create: []string{"create", "-u", dovecot.Username, "Ausgang", "Sent"}, configured: "Ausgang", folder: "Ausgang"},
		"made when missing":    {configured: "Gesendete Mails/Podium", folder: "Gesendete Mails/Podium"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dovecot.Start(t, dovecot.Options{})
			if test.create != nil {
				server.Doveadm(t, append([]string{"mailbox"}, test.create...)...)
			}
			folder := connection.NewSentFolder(reach(server.Host, server.Port), test.configured)
			if found, err := folder.Find(t.Context(), letterID, ""); err != nil || found {
				t.Fatalf("found %v before it is there: %v", found, err)
			}
			if err := folder.Append(t.Context(), letter(letterID)); err != nil {
				t.Fatal(err)
			}
			if err := folder.Append(t.Context(), letter("other."+letterID)); err != nil {
				t.Fatal(err)
			}
			if found, err := folder.Find(t.Context(), letterID, ""); err != nil || !found {
				t.Errorf("found %v: %v", found, err)
			}
			for _, absent := range []string{"x" + letterID, "of another effect", `" OR ALL "`, ""} {
				if found, err := folder.Find(t.Context(), absent, absent); err != nil || found {
					t.Errorf("found %q: %v", absent, err)
				}
			}
			if found, err := folder.Find(t.Context(), letterID[1:], ""); err != nil || found {
				t.Errorf("found by its end: %v", err)
			}
			if found, err := folder.Find(t.Context(), "another@praxis.example", effectOf(letterID)); err != nil || !found {
				t.Errorf("not found by what it begins with: %v", err)
			}
			got := server.Doveadm(t, "fetch", "-u", dovecot.Username, "flags date.received", "mailbox", test.folder, "all")
			if strings.Count(got, `\Seen`) != 2 || strings.Count(got, time.Now().Format("2006-01")) != 2 {
				t.Errorf("in the folder is %s", got)
			}
			if inbox := server.Doveadm(t, "search", "-u", dovecot.Username, "mailbox", "INBOX", "all"); inbox != "" {
				t.Errorf("in the inbox is %s", inbox)
			}
		})
	}
}

// Without a folder that could be meant nothing is made, and the server is not asked
// again for every letter.
func TestNoSentFolder(t *testing.T) {
	t.Parallel()
	server := dovecot.Start(t, dovecot.Options{})
	folder := connection.NewSentFolder(reach(server.Host, server.Port), "")
	if err := folder.Append(t.Context(), letter(letterID)); !errors.Is(err, connection.ErrNoFolder) {
		t.Errorf("%v", err)
	}
	if list := strings.TrimSpace(server.Doveadm(t, "mailbox", "list", "-u", dovecot.Username)); list != "INBOX" {
		t.Errorf("there is now %q", list)
	}
	server.Stop(t)
	if _, err := folder.Find(t.Context(), letterID, ""); !errors.Is(err, connection.ErrNoFolder) {
		t.Errorf("%v", err)
	}
}

func TestSentFolderThatRefuses(t *testing.T) {
	t.Parallel()
	server := dovecot.Start(t, dovecot.Options{})
	wrong := reach(server.Host, server.Port)
	wrong.Password = func(context.Context) (string, error) { return "wrong", nil }
	if err := connection.NewSentFolder(wrong, "Sent").Append(t.Context(), letter(letterID)); !errors.Is(err, connection.ErrAuthentication) {
		t.Errorf("%v", err)
	}
}

// A server that says nothing holds nobody up for long.
func TestSilentServerOfASentFolder(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close() //nolint:errcheck // it carried nothing
			accepted.Add(1)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	silent := reach("127.0.0.1", listener.Addr().(*net.TCPAddr).Port)
	silent.AnswerDeadline = 100 * time.Millisecond
	_, err = connection.NewSentFolder(silent, "Sent").Find(t.Context(), letterID, "")
	if !errors.Is(err, connection.ErrSilent) || accepted.Load() != 1 {
		t.Errorf("%v after %d connections", err, accepted.Load())
	}
}
