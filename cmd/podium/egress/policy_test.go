package egress_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"podium/cmd/podium/egress"
)

func target(t *testing.T, text string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestEntries(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"local": "local", "public": "public",
		"erp.example:443": `["erp.example:443"]`, "ERP.Example.:443": `["erp.example:443"]`, "my_box:80": `["my_box:80"]`, "xn--bcher-kva.example:443": `["xn--bcher-kva.example:443"]`,
		"Bücher.example:443": `["xn--bcher-kva.example:443"]`, "127.0.0.1:11434": `["127.0.0.1:11434"]`,
		"[::1]:8080": `["[::1]:8080"]`, "[0:0:0:0:0:0:0:1]:8080": `["[::1]:8080"]`, "[FD12::5]:80": `["[fd12::5]:80"]`, "100.64.1.2:80": `["100.64.1.2:80"]`,
	} {
		if p, err := egress.Parse(entry); err != nil || p.String() != want {
			t.Errorf("%s: %s, %v", entry, p, err)
		}
	}
	if got := policy(t, "local", "api.example:443").String(); got != `[local, "api.example:443"]` {
		t.Error(got)
	}
}

// TestRefusedEntries: what an entry cannot be, and what is said then.
func TestRefusedEntries(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"": "port", "Local": "port", "erp.example": "port", "erp.example:": "1 to 65535", "erp.example:0": "1 to 65535", "erp.example:65536": "1 to 65535",
		"erp.example:https": "1 to 65535", "::1": "such as [::1]:443", "*.example:443": "character", "a b:80": "character", ":80": "no host", ".:80": "no host", "a..b:80": "empty part",
		strings.Repeat("a", 64) + ":80": "63", strings.Repeat("a.", 127) + "a:80": "253",
		"https://erp.example": "leave out", "user:hush@erp.example:443": "leave out", "erp.example:443/v1": "leave out",
		"localhost:80": "127.0.0.1:80", "a.localhost:80": "127.0.0.1:80", "localhost.:80": "127.0.0.1:80",
		"2130706433:80": "ends in a number", "127.1:80": "ends in a number", "0x7f.1:80": "ends in a number", "127.0.0.1.:80": "ends in a number", "0177.0.0.1:80": "ends in a number",
		"[::ffff:127.0.0.1]:80": "write 127.0.0.1", "[fe80::1%eth0]:80": "network interface", "169.254.169.254:80": "no egress leads", "[fe80::1]:80": "no egress leads",
		"0.0.0.0:80": "no egress leads", "[64:ff9b::7f00:1]:80": "no egress leads", "100.100.100.200:80": "no egress leads",
	} {
		p, err := egress.Parse(entry)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", entry, p, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("a password is in an error: %v", err)
		}
	}
}

// TestCheck is what can be said of a URL when it is read: ok, or a word of what is said.
func TestCheck(t *testing.T) {
	t.Parallel()
	const ok = ""
	for entries, urls := range map[string]map[string]string{
		"": {"http://127.0.0.1": "egress is []", "https://example.org": `add "example.org:443"`},
		"local": {
			"http://127.0.0.1:11434/v1": ok, "http://[::1]:8080": ok, "http://10.0.0.5": ok, "https://erp.example": ok, "http://erp.example": ok, "http://localhost:80": ok,
			"https://93.184.216.34": "needs public", "http://169.254.169.254/latest": "no egress leads", "http://[fe80::1%25eth0]": "network interface",
		},
		"public": {
			"https://api.example/v1?q=1": ok, "https://93.184.216.34": ok, "https://API.Example.:8443": ok, "https://[2606:4700::1111]": ok,
			"http://api.example": "write https", "http://93.184.216.34": "write https",
			"https://127.0.0.1": `needs local or "127.0.0.1:443"`, "https://10.0.0.5:8443": `needs local or "10.0.0.5:8443"`, "https://localhost": "is this machine", "https://LOCALHOST.:80": "is this machine",
			"https://a.localhost": "is this machine", "https://100.64.0.1": `needs "100.64.0.1:443"`, "https://0.0.0.0": "no egress leads", "https://[::]": "no egress leads",
		},
		"erp.example:443 127.0.0.1:11434 10.0.0.5:80": {
			"https://erp.example/v1": ok, "https://ERP.example.": ok, "https://ｅｒｐ.example": ok, "http://erp.example:443": ok, "http://127.0.0.1:11434": ok, "http://10.0.0.5": ok,
			"http://erp.example": `add "erp.example:80"`, "https://erp.example:8443": "add", "https://www.erp.example": "add", "https://erp.example.evil.example": "add",
			"http://localhost:11434": "is this machine", "http://127.0.0.1": `needs local or "127.0.0.1:80"`, "http://127.0.0.2:11434": "needs local", "http://[::1]:11434": "needs local", "https://10.0.0.5": "needs local",
		},
		"93.184.216.34:80 local": {"http://93.184.216.34": "write https", "https://93.184.216.34:80": ok},
		"local public": {
			"https://user:hush@api.example": "keys of their own", "https://api.example@127.0.0.1": "keys of their own", "ftp://api.example": `"ftp"`, "file:///etc/passwd": `"file"`, "api.example": `""`,
			"https://": "no host", "https://api.example:0": "1 to 65535", "https://api.example:99999": "1 to 65535", "http:api.example": "no host",
			"http://2130706433": "ends in a number", "http://017700000001": "ends in a number", "http://0x7f000001": "ends in a number", "http://0X7F000001": "ends in a number", "http://127.1": "ends in a number",
			"http://0177.0.0.1": "ends in a number", "http://0x7f.0.0.1": "ends in a number", "http://127.0.0.01": "ends in a number", "http://127.0.0.1.": "ends in a number", "http://1.2.3.4.5": "ends in a number", "http://0x": "ends in a number",
			"http://１２７.０.０.１": ok, "http://169。254。169。254": "no egress leads", "http://①⑥⑨.254.169.254": "no egress leads", "http://[::ffff:127.0.0.1]": "write 127.0.0.1", "http://[::ffff:7f00:1]": "write 127.0.0.1",
			"http://[::127.0.0.1]": "no egress leads", "http://[64:ff9b::127.0.0.1]": "no egress leads", "http://[2002:7f00:1::]": "no egress leads", "http://[::1%25lo]": "network interface", "https://a,b": "character",
		},
	} {
		p := policy(t, strings.Fields(entries)...)
		for text, want := range urls {
			err := p.Check(target(t, text))
			switch {
			case want == ok && err != nil:
				t.Errorf("[%s] %s: %v", entries, text, err)
			case want != ok && (!errors.Is(err, egress.ErrEgress) || !strings.Contains(err.Error(), want)):
				t.Errorf("[%s] %s: not %q: %v", entries, text, want, err)
			case err != nil && strings.Contains(err.Error(), "hush"):
				t.Errorf("a password is in an error: %v", err)
			}
		}
	}
}

// FuzzDestination: an entry that is read is the same when it is written and read again,
// and leads to nothing that is closed.
func FuzzDestination(f *testing.F) {
	for _, entry := range []string{"local", "public", "erp.example:443", "[::1]:8080", "127.0.0.1:11434", "bücher.example:80", "１２７.0.0.1:80", "a..b:1", "[fe80::1%25]:1", "0x7f.1:80"} {
		f.Add(entry)
	}
	closed := netip.MustParseAddrPort("169.254.169.254:443")
	f.Fuzz(func(t *testing.T, entry string) {
		p, err := egress.Parse(entry)
		if err != nil {
			return
		}
		again, err := egress.Parse(p[0].String())
		if err != nil || again[0] != p[0] {
			t.Errorf("%q is written as %q, and read as %q: %v", entry, p[0], again, err)
		}
		if p.Leads("erp.example", closed) == nil {
			t.Errorf("%q leads to %s", entry, closed)
		}
	})
}

// FuzzCheck: a URL that passes under public is https, has no user, and names no address
// but a public one.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{"https://api.example", "https://1.1.1.1", "https://[::1]", "http://0x7f.1", "https://１２７.0.0.1", "https://u@h", "https://h.:443", "https://[fe80::1%25a]"} {
		f.Add(text)
	}
	public, _ := egress.Parse("public")
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := url.Parse(text)
		if err != nil || public.Check(parsed) != nil {
			return
		}
		if parsed.Scheme != "https" || parsed.User != nil || parsed.Hostname() == "" {
			t.Errorf("%q passes", text)
		}
		if addr, err := netip.ParseAddr(parsed.Hostname()); err == nil && public.Leads("service.example", netip.AddrPortFrom(addr, 443)) != nil {
			t.Errorf("%q passes", text)
		}
	})
}

// TestLocal: which policies lead to this machine and private networks alone.
func TestLocal(t *testing.T) {
	t.Parallel()
	for entries, want := range map[string]bool{
		"local": true, "127.0.0.1:11434": true, "local 10.0.0.5:443 [fd12::1]:80": true, "": false, "public": false, "local public": false,
		"erp.example:443": false, "local erp.example:443": false, "93.184.216.34:443": false, "100.64.0.1:443": false,
	} {
		policy, err := egress.Parse(strings.Fields(entries)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.Local(); got != want {
			t.Errorf("%q: %t", entries, got)
		}
	}
}
