package imap_test

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"testing"

	"podium/cleartext"
	"podium/ingest/imap"
	"podium/ingest/imap/dovecot"
)

// TestCleartextGoesWhereItMay: without TLS nothing is said to a server whose address is
// not allowed, whatever its name is; where it is allowed, the mailbox is read.
func TestCleartextGoesWhereItMay(t *testing.T) {
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
		settings.Cleartext = test.allowed
		source, err := imap.Connect(t.Context(), settings)
		if test.reads != (err == nil) || !test.reads && !errors.Is(err, cleartext.ErrForbidden) {
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

// TestControlOfTheMailbox_G38: whoever keeps a profile to the local network has a say on the address of a mailbox as well,
// which gets a copy of what is sent, and none of the other rules goes by that.
func TestControlOfTheMailbox_G38(t *testing.T) {
	t.Parallel()
	server, refused := dovecot.Start(t, dovecot.Options{}), errors.New("not there")
	for name, test := range map[string]struct {
		says    error
		allowed func(netip.Addr) bool
		want    error
	}{
		"both allow it":      {nil, nil, nil},
		"it is refused":      {refused, nil, refused},
		"it may not be read": {nil, netip.Addr.IsPrivate, cleartext.ErrForbidden},
	} {
		settings, asked := config(server.Host, server.Port), ""
		settings.Cleartext = test.allowed
		settings.Control = func(_, address string, _ syscall.RawConn) error {
			asked = address
			return test.says
		}
		source, err := imap.Connect(t.Context(), settings)
		if !errors.Is(err, test.want) || asked != net.JoinHostPort(server.Host, strconv.Itoa(server.Port)) {
			t.Errorf("%s: %v, asked for %q", name, err, asked)
		}
		if source != nil {
			_ = source.Close()
		}
	}
}
