package imap_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"podium/ingest/imap"
	"podium/ingest/imap/connection"
)

// with returns sane answers but for some.
func with(changes map[string]string) map[string]string {
	answers := sane()
	maps.Copy(answers, changes)
	return answers
}

// TestLastMessageOfASearch_I05: "2:*" finds message 1 when it is the last (RFC
// 9051, section 6.4.8); the scripted server always answers so.
func TestLastMessageOfASearch_I05(t *testing.T) {
	t.Parallel()
	server, f := &hostileServer{answers: []map[string]string{sane()}}, newFixture()
	adapter, stop := f.run(t, config("127.0.0.1", server.start(t)), nil)
	f.next(t)
	eventually(t, "it looks again", func() bool { return server.heard("UID SEARCH UID 2:*") > 2 })
	if adapter.Status().Lag != 0 {
		t.Errorf("status %+v", adapter.Status())
	}
	stop()
	f.none(t)
}

// TestUIDNotSticky_I04: the response code that the library drops is heard.
func TestUIDNotSticky_I04(t *testing.T) {
	t.Parallel()
	answers := with(map[string]string{"SELECT": "* 1 EXISTS\r\n* OK [UIDVALIDITY 5] v\r\n* NO [UIDNOTSTICKY] non-persistent\r\nTAG OK [READ-WRITE] done\r\n"})
	server, f := &hostileServer{answers: []map[string]string{answers}}, newFixture()
	adapter, stop := f.run(t, config("127.0.0.1", server.start(t)), nil)
	eventually(t, "it says why", func() bool { return strings.Contains(adapter.Status().Problem, "UIDNOTSTICKY") })
	stop()
	f.none(t)
	if server.heard("UID FETCH") != 0 {
		t.Error("mail was asked for")
	}
}

// trickle hands out a server's bytes one by one.
type trickle struct {
	net.Listener
	pause time.Duration
}

// Accept implements net.Listener.
func (l trickle) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &trickleConn{Conn: conn, pause: l.pause}, nil
}

type trickleConn struct {
	net.Conn
	pause time.Duration
	slow  bool // from the first command on
}

// Write implements net.Conn.
func (c *trickleConn) Write(p []byte) (int, error) {
	if !strings.Contains(string(p), "BODY[]") && !c.slow {
		return c.Conn.Write(p)
	}
	c.slow = true
	ticker := time.NewTicker(c.pause)
	defer ticker.Stop()
	for i := range p {
		<-ticker.C
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// TestTrickle_I09: a server that is never silent and never done is left by the
// deadline of the command as a whole. Here a byte comes every 20 ms, and a command may take 500 ms: 1/50 and 1/1200 of
// what they are. What counts as silence is far longer, so that a busy machine is not taken for a silent server.
func TestTrickle_I09(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	slow := &hostileServer{answers: []map[string]string{sane()}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := (trickle{Listener: listener, pause: 20 * time.Millisecond}).Accept()
			if err != nil {
				return
			}
			serving.Go(func() { slow.serve(conn, sane()) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", listener.Addr())
	}
	f := newFixture()
	settings := config("127.0.0.1", address.Port)
	settings.AnswerDeadline, settings.CommandDeadline = patience, 500*time.Millisecond
	adapter, stop := f.run(t, settings, nil)
	eventually(t, "it is left", func() bool { return strings.Contains(adapter.Status().Problem, connection.ErrSilent.Error()) })
	stop()
	f.none(t)
}

// TestHalfOpenWhileIdle_I09: with nothing to do, a dead connection is found by the
// next sign of life that is asked for. Both times are 1/100 of the defaults, 25 s
// and 30 s: together they are below the 60 s that are promised.
func TestHalfOpenWhileIdle_I09(t *testing.T) {
	t.Parallel()
	for name, capability := range map[string]string{"with IDLE": "IMAP4rev1 IDLE", "without IDLE": "IMAP4rev1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := with(map[string]string{
				"": "* OK [CAPABILITY " + capability + "] ready\r\n", "LOGIN": "TAG OK [CAPABILITY " + capability + "] in\r\n",
				"IDLE": "+ idling\r\n", "+ DONE": "TAG OK done\r\n",
			})
			dead := maps.Clone(answers)
			server, f := &hostileServer{answers: []map[string]string{dead, sane()}}, newFixture()
			settings := config("127.0.0.1", server.start(t))
			settings.PollInterval, settings.IdleReissue = time.Hour/2, 20*time.Minute
			settings.Heartbeat, settings.AnswerDeadline = 250*time.Millisecond, 300*time.Millisecond
			between := newProxy(t, "127.0.0.1", settings.Port)
			settings.Port = between.port(t)
			adapter, _ := f.run(t, settings, nil)
			f.next(t)
			connected(t, adapter)
			between.setSilent(true)
			eventually(t, "the silence is noticed", func() bool { return strings.Contains(adapter.Status().Problem, connection.ErrSilent.Error()) })
		})
	}
}

// TestOwnMove_I16: what the adapter says on the wire to move a mail.
func TestOwnMove_I16(t *testing.T) {
	t.Parallel()
	in := func(capabilities string) string {
		return "TAG OK [CAPABILITY " + strings.TrimSpace("IMAP4rev1 "+capabilities) + "] in\r\n"
	}
	tests := map[string]struct {
		answers map[string]string
		want    []string // beginnings of commands that come, in this order
		never   []string
	}{
		"MOVE": {
			map[string]string{"LOGIN": in("MOVE UIDPLUS")},
			[]string{"UID MOVE 1"},
			[]string{"UID COPY", "UID STORE", "EXPUNGE", "UID EXPUNGE"},
		},
		"COPY with UIDPLUS": {
			map[string]string{"LOGIN": in("UIDPLUS"), "COPY": "TAG OK [COPYUID 9 1 7] done\r\n"},
			[]string{"UID COPY 1", "UID STORE 1 +FLAGS.SILENT (\\Deleted)", "UID EXPUNGE 1"},
			[]string{"UID MOVE", "EXPUNGE"},
		},
		"COPY without UIDPLUS": {
			map[string]string{"LOGIN": in("")},
			[]string{"UID COPY 1", "UID STORE 1 +FLAGS.SILENT (\\Deleted)"},
			[]string{"UID MOVE", "EXPUNGE", "UID EXPUNGE"},
		},
		"COPY that is refused": {
			map[string]string{"LOGIN": in("UIDPLUS"), "COPY": "TAG NO [OVERQUOTA] full\r\n", "CREATE": "TAG NO there is one\r\n"},
			[]string{"UID COPY 1", "CREATE"},
			[]string{"UID MOVE", "UID STORE 1 +FLAGS.SILENT (\\Deleted)", "EXPUNGE", "UID EXPUNGE"},
		},
		"COPY that is not confirmed": {
			map[string]string{"LOGIN": in("UIDPLUS"), "COPY": "TAG OK done\r\n"},
			[]string{"UID COPY 1"},
			[]string{"UID MOVE", "UID STORE 1 +FLAGS.SILENT (\\Deleted)", "EXPUNGE", "UID EXPUNGE"},
		},
		"COPY of another message": {
			map[string]string{"LOGIN": in("UIDPLUS"), "COPY": "TAG OK [COPYUID 9 8 7] done\r\n"},
			[]string{"UID COPY 1"},
			[]string{"UID MOVE", "UID STORE 1 +FLAGS.SILENT (\\Deleted)", "EXPUNGE", "UID EXPUNGE"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, f := &hostileServer{answers: []map[string]string{with(test.answers)}}, newFixture()
			settings := config("127.0.0.1", server.start(t))
			settings.After = imap.After{Processed: imap.ProcessingMove}
			_, stop := f.run(t, settings, nil)
			f.next(t)
			for _, command := range test.want {
				eventually(t, "the server hears "+command, func() bool { return server.heard(command) > 0 })
			}
			eventually(t, "it looks again", func() bool { return server.heard("UID SEARCH UID 2:*") > 0 })
			stop()
			for _, command := range test.never {
				if server.heard(command) > 0 {
					t.Errorf("the server has heard %s", command)
				}
			}
		})
	}
}

// TestTokensOnTheWire_I14: XOAUTH2 where there is nothing better, OAUTHBEARER
// where there is; a refusal is one of the credentials, an outage of the provider
// is not.
func TestTokensOnTheWire_I14(t *testing.T) {
	t.Parallel()
	xoauth2 := base64.StdEncoding.EncodeToString([]byte("user=agent\x01auth=Bearer t0ken\x01\x01"))
	refusal := "+ " + base64.StdEncoding.EncodeToString([]byte(`{"status":"401"}`)) + "\r\n"
	tests := map[string]struct {
		capabilities string
		answer       string
		err          error
		hears        string
		problem      string
	}{
		"XOAUTH2":     {"SASL-IR AUTH=XOAUTH2", "TAG OK [CAPABILITY IMAP4rev1] in\r\n", nil, "AUTHENTICATE XOAUTH2 " + xoauth2, ""},
		"OAUTHBEARER": {"SASL-IR AUTH=XOAUTH2 AUTH=OAUTHBEARER", "TAG OK [CAPABILITY IMAP4rev1] in\r\n", nil, "AUTHENTICATE OAUTHBEARER ", ""},
		"refused":     {"SASL-IR AUTH=XOAUTH2", refusal, nil, "AUTHENTICATE XOAUTH2", connection.ErrAuthentication.Error()},
		"no token":    {"SASL-IR AUTH=XOAUTH2", "", fmt.Errorf("%w: invalid_grant", connection.ErrAuthentication), "", connection.ErrAuthentication.Error()},
		"an outage":   {"SASL-IR AUTH=XOAUTH2", "", errors.New("no route"), "", "access token"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &hostileServer{answers: []map[string]string{with(map[string]string{
				"": "* OK [CAPABILITY IMAP4rev1 " + test.capabilities + "] ready\r\n", "AUTHENTICATE": test.answer,
				"+ AQ==": "TAG NO [AUTHENTICATIONFAILED] no\r\n",
			})}}
			f := newFixture()
			settings := config("127.0.0.1", server.start(t))
			settings.BackOffMax = time.Hour
			settings.Password = nil
			settings.Token = func(context.Context) (string, time.Time, error) {
				return "t0ken", time.Now().Add(time.Hour), test.err
			}
			discarded := make(chan string, 1)
			settings.Discard = func(token string) { discarded <- token }
			adapter, _ := f.run(t, settings, nil)
			if name == "refused" {
				if token := <-discarded; token != "t0ken" {
					t.Errorf("%q was discarded", token)
				}
			}
			if test.problem == "" {
				f.next(t)
			} else {
				eventually(t, "the refusal shows", func() bool { return strings.Contains(adapter.Status().Problem, test.problem) })
			}
			if test.hears != "" && server.heard(test.hears) != 1 {
				t.Errorf("the server has heard %q", server.commands)
			}
		})
	}
}
