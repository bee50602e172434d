package config

import (
	"net/netip"
	"strings"
	"testing"
)

// TestCleartextAddresses: to which addresses mail and password may go without TLS.
func TestCleartextAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ local, private bool }{
		"127.0.0.1":                {true, true},
		"127.255.255.254":          {true, true},
		"::1":                      {true, true},
		"::ffff:127.0.0.1":         {true, true},
		"10.0.0.1":                 {false, true},
		"10.255.255.255":           {false, true},
		"172.16.0.1":               {false, true},
		"172.31.255.255":           {false, true},
		"192.168.178.1":            {false, true},
		"::ffff:192.168.178.1":     {false, true},
		"169.254.1.1":              {false, true},
		"fd00::1":                  {false, true},
		"fc00::1":                  {false, true},
		"fe80::1":                  {false, true},
		"fe80::1%eth0":             {false, true},
		"9.255.255.255":            {false, false},
		"11.0.0.1":                 {false, false},
		"172.15.255.255":           {false, false},
		"172.32.0.1":               {false, false},
		"192.167.255.255":          {false, false},
		"192.169.0.1":              {false, false},
		"100.64.0.1":               {false, false}, // shared by the customers of a provider
		"203.0.113.7":              {false, false},
		"::ffff:203.0.113.7":       {false, false},
		"8.8.8.8":                  {false, false},
		"0.0.0.0":                  {false, false},
		"::":                       {false, false},
		"255.255.255.255":          {false, false},
		"224.0.0.1":                {false, false},
		"2001:db8::7":              {false, false},
		"64:ff9b::10.0.0.1":        {false, false}, // translated on the way, wherever that leads
		"2002:a00:1::1":            {false, false},
		"fec0::1":                  {false, false}, // site-local, which nobody has to keep inside
		"ff02::1":                  {false, false},
		"2a00:1450:4001:813::2005": {false, false},
	} {
		at := netip.MustParseAddr(address)
		if got := Cleartext("").Allows(at); got != want.local {
			t.Errorf("%s by default: %t", address, got)
		}
		if got := CleartextPrivate.Allows(at); got != want.private {
			t.Errorf("%s with cleartext: private: %t", address, got)
		}
	}
}

// TestCleartextIsCautioned: what a test server is allowed is said at every check.
func TestCleartextIsCautioned(t *testing.T) {
	t.Parallel()
	for imap, want := range map[string]int{
		"host: imap.test, tls: none, cleartext: private":  1,
		"host: 10.0.0.5, tls: none, cleartext: private":   1,
		"host: localhost, tls: none, cleartext: private":  0,
		"host: 127.0.0.1, tls: none":                      0,
		"host: '::ffff:127.0.0.1', tls: none":             0,
		"host: imap.example.org":                          0,
		"host: imap.example.org, tls: starttls, port: 14": 0,
	} {
		config, err := parse([]byte(strings.Replace(`
mail: {accounts: [{name: support, profile: desk, imap: {HOST, username: u, password: p, dkim: true}, smtp: {host: h, from: a@example.org}}]}
agents: {echo: {kind: echo}}
profiles: {desk: {agents: [echo], routers: [{kind: default, agent: echo}]}}
`, "HOST", imap, 1)), "podium.yaml", lookup)
		if err != nil {
			t.Errorf("%s: %v", imap, err)
			continue
		}
		cautions := config.Cautions()
		if len(cautions) != want || want > 0 && !strings.Contains(cautions[0], `account "support" sends mail and password readable`) {
			t.Errorf("%s: %q", imap, cautions)
		}
	}
}
