package trust

import (
	"slices"
	"strings"
	"testing"
)

// The lists hold what they are for, one plain domain a line, and no public suffix.
func TestFreemailDomains_I23(t *testing.T) {
	t.Parallel()
	domains := strings.Fields(freemailDomains + moreFreemail)
	for _, known := range []string{
		"gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "yahoo.com", "icloud.com", "aol.com", "gmx.de", "gmx.net", "web.de", "t-online.de",
		"posteo.de", "mailbox.org", "freenet.de", "orange.fr", "free.fr", "laposte.net", "libero.it", "wp.pl", "seznam.cz", "mail.ru", "yandex.ru",
		"qq.com", "163.com", "naver.com", "proton.me", "protonmail.com", "tutanota.com", "tuta.io", "fastmail.com", "hey.com", "bluewin.ch", "telenet.be",
	} {
		if !slices.Contains(domains, known) {
			t.Errorf("%s is missing", known)
		}
	}
	for _, domain := range domains {
		if strings.Trim(domain, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(domain, ".") || strings.HasPrefix(domain, ".") {
			t.Errorf("%q is no domain", domain)
		}
	}
	for _, none := range []string{"co.uk", "com.br", "example.com", "posteo", ""} {
		if slices.Contains(domains, none) {
			t.Errorf("%q is in the list", none)
		}
	}
}
