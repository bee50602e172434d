package imap_test

import (
	"errors"
	"net/netip"
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
