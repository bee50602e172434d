package imap_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"podium/ingest/imap/connection"
	"podium/ingest/imap/dovecot"
	"podium/ingest/imap/memorymailbox"
)

func TestMemoryMailbox(t *testing.T) {
	t.Parallel()
	server, err := memorymailbox.Start(t.Context(), dovecot.Username, dovecot.Password)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture()
	settings := config(server.Host(), server.Port())
	settings.PollInterval = time.Minute // so that only the announcement can bring it
	adapter, stop := f.run(t, settings, nil)
	connected(t, adapter)
	for number := range 100 { // often enough to meet every moment of a cycle
		if err := server.Deliver(message(number)); err != nil {
			t.Fatal(err)
		}
		if _, mail := f.next(t); mail.UID != uint32(number+1) || mail.Text != fmt.Sprintf("Text %d", number) {
			t.Errorf("mail %+v", mail)
		}
	}
	stop()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

// certificate is one for localhost that only a test trusts.
func certificate(tb testing.TB) (tls.Certificate, *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// securedServer serves one user by TLS or STARTTLS, and refuses passwords in the clear.
func securedServer(tb testing.TB, security connection.Security, own tls.Certificate) (user *imapmemserver.User, port int) {
	tb.Helper()
	user = imapmemserver.NewUser(dovecot.Username, dovecot.Password)
	if err := user.Create("INBOX", nil); err != nil {
		tb.Fatal(err)
	}
	accounts := imapmemserver.New()
	accounts.AddUser(user)
	config := &tls.Config{Certificates: []tls.Certificate{own}}
	listener := listen(tb)
	if security == connection.SecurityTLS {
		listener = tls.NewListener(listener, config)
	}
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return accounts.NewSession(), nil, nil
		},
		Caps: goimap.CapSet{goimap.CapIMAP4rev1: {}}, TLSConfig: config, Logger: log.New(io.Discard, "", 0), // a connection may end after its test
	})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	tb.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		tb.Fatalf("%T", listener.Addr())
	}
	return user, address.Port
}

func TestProtectedConnections(t *testing.T) {
	t.Parallel()
	own, pool := certificate(t)
	for _, security := range []connection.Security{connection.SecurityTLS, connection.SecurityStartTLS} {
		t.Run(string(security), func(t *testing.T) {
			t.Parallel()
			user, port := securedServer(t, security, own)
			f := newFixture()
			settings := config("127.0.0.1", port)
			settings.Security, settings.TLS = security, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
			if _, err := user.Append("INBOX", strings.NewReader(string(message(1))), &goimap.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
			adapter, stop := f.run(t, settings, nil)
			if _, mail := f.next(t); mail.UID != 1 {
				t.Errorf("mail %+v", mail)
			}
			connected(t, adapter)
			stop()

			settings.TLS = nil // the system does not know this certificate
			adapter, _ = f.run(t, settings, nil)
			eventually(t, "a stranger's certificate is refused", func() bool { return adapter.Status().Problem != "" })
			if adapter.Status().Connected {
				t.Error("it connected")
			}
		})
	}
}

// A hostileServer answers each connection with the next of its scripts; the
// last one is repeated. "TAG" in an answer stands for the tag of the command.
type hostileServer struct {
	answers []map[string]string // by command; "" is the greeting

	mu       sync.Mutex
	accepted int
	commands []string // without their tags, in the order of their coming
}

// heard tells how often a command came that begins so.
func (h *hostileServer) heard(prefix string) (times int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, command := range h.commands {
		if strings.HasPrefix(command, prefix) {
			times++
		}
	}
	return times
}

func (h *hostileServer) start(tb testing.TB) (port int) {
	tb.Helper()
	listener := listen(tb)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			answers := h.answers[min(h.accepted, len(h.answers)-1)]
			h.accepted++
			h.mu.Unlock()
			serving.Go(func() { h.serve(conn, answers) })
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		tb.Fatalf("%T", listener.Addr())
	}
	return address.Port
}

func (h *hostileServer) serve(conn net.Conn, answers map[string]string) {
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(answers[""])); err != nil {
		return
	}
	commands := bufio.NewScanner(conn)
	last := ""
	for commands.Scan() {
		tag, rest, _ := strings.Cut(commands.Text(), " ")
		if rest == "" { // it continues the command before it
			tag, rest = last, "+ "+tag
		}
		last = tag
		command := strings.ToUpper(strings.TrimPrefix(rest, "UID "))
		h.mu.Lock()
		h.commands = append(h.commands, rest)
		h.mu.Unlock()
		answer, known := "", false
		for name, text := range answers {
			if name != "" && strings.HasPrefix(command, name) {
				answer, known = text, true
			}
		}
		if !known {
			answer = "TAG OK done\r\n"
		}
		if _, err := conn.Write([]byte(strings.ReplaceAll(answer, "TAG", tag))); err != nil || strings.Contains(answer, "* BYE") {
			return
		}
	}
}

// sane are the answers of a server with one mail.
func sane() map[string]string {
	raw := string(message(1))
	return map[string]string{
		"":               "* OK [CAPABILITY IMAP4rev1] ready\r\n",
		"CAPABILITY":     "* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n",
		"LOGIN":          "TAG OK [CAPABILITY IMAP4rev1] in\r\n",
		"SELECT":         "* 1 EXISTS\r\n* OK [UIDVALIDITY 5] v\r\n* OK [UIDNEXT 2] n\r\nTAG OK [READ-WRITE] done\r\n",
		"SEARCH":         "* SEARCH 1\r\nTAG OK done\r\n",
		"FETCH 1 (UID F": "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"05-Jan-2026 09:00:00 +0000\" RFC822.SIZE 10)\r\nTAG OK done\r\n",
		"FETCH 1 (UID R": "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"05-Jan-2026 09:00:00 +0000\" RFC822.SIZE 10)\r\nTAG OK done\r\n",
		"FETCH 1 (UID I": "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"05-Jan-2026 09:00:00 +0000\" RFC822.SIZE 10)\r\nTAG OK done\r\n",
		"FETCH 1 (UID B": fmt.Sprintf("* 1 FETCH (UID 1 BODY[] {%d}\r\n%s)\r\nTAG OK done\r\n", len(raw), raw),
	}
}

// TestHostileServer begins with a server that misbehaves at one point and is
// sane at the next connection: the mail arrives once, and nothing hangs.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	body := "FETCH 1 (UID B"
	wrongSize := "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"05-Jan-2026 09:00:00 +0000\" RFC822.SIZE 49999999)\r\nTAG OK done\r\n"
	tests := map[string]map[string]string{
		"greets with BYE":        {"": "* BYE go away\r\n"},
		"greets with nothing":    {"": ""},
		"greets with garbage":    {"": "220 smtp.example.org ESMTP\r\n"},
		"is unavailable":         {"LOGIN": "TAG NO [UNAVAILABLE] later\r\n"},
		"BYE at SELECT":          {"SELECT": "* BYE see you\r\n"},
		"no tagged answer":       {"SEARCH": "* SEARCH 1\r\n"},
		"unknown response":       {"SEARCH": "* WHATEVER 1\r\nTAG OK done\r\n"},
		"VANISHED":               {"SEARCH": "* VANISHED (EARLIER) 1:5\r\nTAG OK done\r\n"},
		"impossible search":      {"SEARCH": "* ESEARCH (TAG \"TAG\") UID ALL 1:4294967295\r\nTAG OK done\r\n"},
		"open-ended search":      {"SEARCH": "* ESEARCH (TAG \"TAG\") UID ALL 1:*\r\nTAG OK done\r\n"},
		"truncated literal":      {body: "* 1 FETCH (UID 1 BODY[] {5000}\r\nshort* BYE"},
		"stalled literal":        {body: "* 1 FETCH (UID 1 BODY[] {5000}\r\nshort"},
		"gigantic literal":       {body: "* 1 FETCH (UID 1 BODY[] {99999999999999}\r\nshort"},
		"ENVELOPE garbage":       {body: "* 1 FETCH (UID 1 ENVELOPE (((((NIL) BODY[] {1}\r\nx)\r\nTAG OK done\r\n"},
		"nothing for BODY":       {body: "* 1 FETCH (UID 1 BODY[] NIL)\r\nTAG OK done\r\n"},
		"another message":        {body: "* 9 FETCH (UID 9 BODY[] {1}\r\nx)\r\nTAG OK done\r\n"},
		"UID behind the literal": {body: "* 1 FETCH (BODY[] {1}\r\nx UID 1)\r\nTAG OK done\r\n"},
		"wrong size": {
			"FETCH 1 (UID F": wrongSize, "FETCH 1 (UID R": wrongSize, "FETCH 1 (UID I": wrongSize,
			body: fmt.Sprintf("* 1 FETCH (UID 1 BODY[]<0> {%d}\r\n%s)\r\nTAG OK done\r\n", len(message(1)), message(1)),
		},
		"refused FETCH":            {body: "TAG NO [SERVERBUG] sorry\r\n"},
		"no UIDVALIDITY":           {"SELECT": "* 1 EXISTS\r\nTAG OK done\r\n"},
		"SELECT refused":           {"SELECT": "TAG NO [NONEXISTENT] what\r\n"},
		"unasked literal in flags": {"FETCH 1 (UID": "* 1 FETCH (UID 1 BODY[] {3}\r\nabc RFC822.SIZE 3)\r\nTAG BAD no\r\n"},
	}
	for name, misbehavior := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := sane()
			for command, answer := range misbehavior {
				if command == "FETCH 1 (UID" {
					for known := range first {
						if strings.HasPrefix(known, command) {
							first[known] = answer
						}
					}
					continue
				}
				first[command] = answer
			}
			server, f := &hostileServer{answers: []map[string]string{first, sane()}}, newFixture()
			settings := config("127.0.0.1", server.start(t))
			settings.AnswerDeadline = time.Second
			adapter, stop := f.run(t, settings, nil)
			if name == "refused FETCH" || name == "nothing for BODY" || name == "another message" || name == "UID behind the literal" || name == "unasked literal in flags" {
				// The server stands by it on this connection, which lives: the message is passed over.
				eventually(t, "the message is passed over", func() bool { return adapter.Status().Failed == 1 })
				return
			}
			if _, mail := f.next(t); mail.UID != 1 || mail.Subject != "Mail 1" {
				t.Errorf("mail %+v", mail)
			}
			stop()
			f.none(t)
		})
	}
}

func TestAdapterEndsWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "LOGIN", "SELECT", "SEARCH", "FETCH 1 (UID B"} {
		answers := sane()
		answers[command] = ""
		server, f := &hostileServer{answers: []map[string]string{answers}}, newFixture()
		settings := config("127.0.0.1", server.start(t))
		settings.AnswerDeadline = time.Hour
		_, stop := f.run(t, settings, nil)
		eventually(t, "it connects", func() bool {
			server.mu.Lock()
			defer server.mu.Unlock()
			return server.accepted > 0
		})
		stop() // fails the test when Run does not end
	}
}
