package mail_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
)

// Without TLS a password goes to the addresses that are allowed and nowhere else: it is
// the address of the connection that is judged, not the name of the server.
func TestCleartextGoesWhereItMay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	for name, test := range map[string]struct {
		host    string // the sink's own when it is empty
		allowed func(netip.Addr) bool
		sent    bool
	}{
		"this machine":                   {"", nil, true},
		"a name of this machine":         {"localhost", nil, true},
		"an address that is allowed":     {"::ffff:127.0.0.1", netip.Addr.IsLoopback, true}, // the library takes it for another machine
		"this machine, not allowed":      {"", func(netip.Addr) bool { return false }, false},
		"a name, not allowed":            {"localhost", netip.Addr.IsPrivate, false},
		"a public address":               {"192.0.2.1", netip.Addr.IsPrivate, false},
		"a public address of IPv6":       {"2001:db8::1", netip.Addr.IsPrivate, false},
		"a public address behind a form": {"::ffff:192.0.2.1", netip.Addr.IsPrivate, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := startSink(t, smtpsink.Config{Username: "u", Password: "secret"})
			var asked []string
			_, err := newAgent(t, sink, func(a *mail.Account) {
				a.Username, a.Password = "u", "secret"
				if test.host != "" {
					a.Host = test.host
				}
				if test.allowed != nil {
					a.Cleartext = func(address netip.Addr) bool {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, address.String())
						return test.allowed(address)
					}
				}
			}).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
			if sent := len(sink.Messages()) == 1; sent != test.sent || test.sent != (err == nil) {
				t.Errorf("sent: %t, %v", sent, err)
			}
			if test.allowed != nil && (len(asked) == 0 || slices.ContainsFunc(asked, func(address string) bool { return strings.HasPrefix(address, "::ffff:") })) {
				t.Errorf("asked was for %q", asked)
			}
			if !test.sent && !strings.Contains(err.Error(), "without TLS") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A password in clear is refused before anything is connected, where nothing allows it.
func TestCleartextIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	account := mail.Account{Host: "10.0.0.5", TLS: mail.TLSNone, Username: "u", Password: "p", From: "a@example.org"}
	if _, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": account}}); err == nil {
		t.Error("a password in clear to another machine was taken")
	}
	account.Cleartext = netip.Addr.IsPrivate
	if _, err := mail.New(mail.Config{Accounts: map[string]mail.Account{"support": account}}); err != nil {
		t.Errorf("allowed explicitly: %v", err)
	}
}

// Whatever TLS an account has, its last word on an address holds, and nothing is said to a server without it.
func TestControlHasTheLastWord(t *testing.T) {
	t.Parallel()
	refused := errors.New("not there")
	for _, mode := range []mail.TLSMode{mail.TLSNone, mail.TLSStart, mail.TLSImplicit} {
		sink := startSink(t, smtpsink.Config{})
		var asked []string
		_, err := newAgent(t, sink, func(a *mail.Account) {
			a.TLS = mode
			a.Control = func(_, address string, _ syscall.RawConn) error {
				asked = append(asked, address)
				return refused
			}
		}).Handle(t.Context(), requestWith(t, newAnswer()), ignore)
		if err == nil || len(sink.Messages()) > 0 || len(asked) == 0 || !strings.HasPrefix(asked[0], "127.0.0.1:") {
			t.Errorf("%s: %v, asked for %v", mode, err, asked)
		}
	}
}
