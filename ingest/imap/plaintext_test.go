package imap_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"podium/ingest/imap"
	"podium/ingest/imap/dovecot"
)

// TestPlaintextGoesWhereItMay: without TLS nothing is said to a server whose address is
// not allowed, whatever its name is; where it is allowed, the mailbox is read.
func TestPlaintextGoesWhereItMay(t *testing.T) {
	t.Parallel()
	server := dovecot.Start(t, dovecot.Options{})
	for name, test := range map[string]struct {
		host    string
		allowed func(netip.Addr) bool
		reads   bool
	}{
		"this machine":               {server.Host, nil, true},
		"an address that is allowed": {"::ffff:" + server.Host, netip.Addr.IsLoopback, true},
		"this machine, not allowed":  {server.Host, netip.Addr.IsPrivate, false},
		"a name, not allowed":        {"localhost", netip.Addr.IsPrivate, false},
		"a public address":           {"192.0.2.1", netip.Addr.IsPrivate, false},
		"a public address of IPv6":   {"2001:db8::1", netip.Addr.IsPrivate, false},
	} {
		settings := config(test.host, server.Port)
		settings.Plaintext = test.allowed
		source, err := imap.Connect(t.Context(), settings)
		if test.reads != (err == nil) || !test.reads && !errors.Is(err, imap.ErrPlaintext) {
			t.Errorf("%s: %v", name, err)
		}
		if source != nil {
			if _, err = source.Select(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_ = source.Close()
		}
	}
}

// TestPlaintextOfThisMachineByDefault: a name that leads elsewhere by the time of the
// connection is refused, though the configuration named this machine.
func TestPlaintextOfThisMachineByDefault(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]bool{
		"127.0.0.1:143": true, "[::1]:143": true, "[::ffff:127.0.0.1]:143": true,
		"10.0.0.5:143": false, "203.0.113.7:143": false, "[fe80::1%eth0]:143": false, "mail.example.org:143": false, "": false,
	} {
		if err := imap.ControlPlaintext(nil)("tcp", address, nil); (err == nil) != allowed || err != nil && !errors.Is(err, imap.ErrPlaintext) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if !strings.Contains((&net.OpError{Op: "dial", Err: imap.ErrPlaintext}).Error(), "cleartext: private") {
		t.Error("the error does not say what to write")
	}
}
