package service

import (
	"errors"
	"net/netip"
	"testing"

	"podium/cleartext"
	"podium/cmd/podium/config"
)

// What the file allows without TLS is what reading, sending and the canary are allowed.
func TestCleartextIsTheFilesWord(t *testing.T) {
	t.Parallel()
	for word, private := range map[string]bool{"": false, ", cleartext: private": true} {
		settings, account := accountOf(t, "password: p", "host: localhost, username: u, password: p, tls: none"+word)
		account.IMAP.TLS, account.IMAP.Cleartext = config.EncryptionNone, account.SMTP.Cleartext
		reads, sends := mailboxConfig(settings, account, "INBOX", nil, nil).Cleartext, mailAccount(settings, account, nil, nil).Cleartext
		for address, want := range map[string]bool{"127.0.0.1": true, "10.0.0.5": private, "fd00::1": private, "203.0.113.7": false} {
			at := netip.MustParseAddr(address)
			if reads(at) != want || sends(at) != want {
				t.Errorf("%q, %s: reading %t, sending %t", word, address, reads(at), sends(at))
			}
		}
		account.SMTP.Host = "192.0.2.1"
		if err := sendCanary(t.Context(), account, nil, "a@example.org", "a letter"); !errors.Is(err, cleartext.ErrForbidden) {
			t.Errorf("%q: the canary to a public address: %v", word, err)
		}
	}
}
