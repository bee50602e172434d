package trust

import (
	"strings"
	"testing"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/header"
	"podium/schemas"
)

// FuzzAuthResults proves that only a field of the server that is asked for is
// believed, and that a pass names a domain.
func FuzzAuthResults(f *testing.F) {
	for _, seed := range []string{
		"mx.example.org; dmarc=pass header.from=example.com", "mx.example.org 1; dkim=pass (x (y)) header.d=a.b", `mx.example.org; spf=pass reason="a;b" smtp.mailfrom=x@y.z`, "spf=pass smtp.mailfrom=a.b", "evil; dmarc=pass", ";;=", `"mx.example.org"; dkim=pass header.i=@x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		h := header.Header{{Name: "authentication-results", Value: value}}
		results, found := authResults(h, []string{"mx.example.org"})
		if server, _ := parseAuthResults(value); found != strings.EqualFold(server, "mx.example.org") {
			t.Fatalf("believed %t what %q says", found, server)
		}
		auth := judge(results, "example.com")
		if auth.Aligned && !aligned(auth.Domain, "example.com") || auth.Verdict != schemas.AuthNone && auth.Domain == "" {
			t.Fatalf("got %+v", auth)
		}
		if stranger := judge(results, ""); stranger.Aligned {
			t.Fatalf("aligned with nobody: %+v", stranger)
		}
	})
}

// FuzzAuthors proves that no author breaks the search for what is suspicious.
func FuzzAuthors(f *testing.F) {
	for _, seed := range []string{
		"a@b.c", `"Muster, Max" <a@b.c>, e@f.g`, "=?utf-8?Q?M=C3=BC?= <a@b.c>", `"x@y.z" <a@b.c>`, "\u0430@\u0430\u0435.com", "a@xn--", "a@[192.0.2.1]", "a\uff20b <c@d>", `"a b"@c.d`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, raw string) {
		left := 10
		for _, one := range header.ParseAddresses(header.Header{{Name: "from", Value: raw}}, "from", &left, &defect.List{}).Mailboxes {
			mixesScripts(one)
			isHomograph(one)
			posesAsAnother(one)
		}
	})
}
