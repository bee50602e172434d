package mime_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"podium/ingest/mime"
	"podium/ingest/mime/trust"
	"podium/schemas"
)

// ours is the name of the server that the tests believe.
const ours = "mx.example.org"

func parseWith(tb testing.TB, raw string, options mime.Options) schemas.EmailReceived {
	tb.Helper()
	options.Sink = kept{}
	mail, err := mime.Parse(tb.Context(), strings.NewReader(raw), options)
	if err != nil {
		tb.Fatal(err)
	}
	validEvent(tb, tb.Name(), mail)
	return mail
}

// TestAuthVerdict_I23: only the topmost word of our own server counts.
func TestAuthVerdict_I23(t *testing.T) {
	t.Parallel()
	pass := schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "example.com", Method: "dmarc", Aligned: true}
	none := schemas.MailAuth{Verdict: schemas.AuthNone}
	tests := map[string]struct {
		fields []string
		want   schemas.MailAuth
	}{
		"nothing said":        {nil, none},
		"dmarc":               {[]string{ours + "; dmarc=pass header.from=example.com"}, pass},
		"dmarc, no domain":    {[]string{ours + "; dmarc=pass"}, pass},
		"letter case":         {[]string{"MX.Example.ORG 1; DMARC=PASS (p=none (really)) Header.From=Example.com"}, pass},
		"somebody else's":     {[]string{"mx.evil.example; dmarc=pass header.from=example.com"}, none},
		"a lookalike":         {[]string{ours + ".evil.example; dmarc=pass header.from=example.com"}, none},
		"ours below":          {[]string{"mx.evil.example; dmarc=pass header.from=example.com", ours + "; dmarc=fail header.from=example.com"}, schemas.MailAuth{Verdict: schemas.AuthFail, Domain: "example.com", Method: "dmarc", Aligned: true}},
		"forged below ours":   {[]string{ours + "; none", ours + "; dmarc=pass header.from=example.com"}, none},
		"in a comment":        {[]string{ours + "; none (dmarc=pass header.from=example.com)"}, none},
		"in a quoted reason":  {[]string{ours + `; spf=none reason="; dmarc=pass header.from=example.com"`}, none},
		"open comment":        {[]string{ours + "; spf=none (; dmarc=pass header.from=example.com"}, none},
		"another From":        {[]string{ours + "; dmarc=pass header.from=evil.example"}, none},
		"dkim, same domain":   {[]string{ours + "; dkim=pass header.d=example.com header.s=x"}, schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "example.com", Method: "dkim", Aligned: true}},
		"dkim, subdomain":     {[]string{ours + "; dkim=pass header.i=@mail.example.com"}, schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "mail.example.com", Method: "dkim", Aligned: true}},
		"dkim, elsewhere":     {[]string{ours + "; dkim=pass header.d=esp.example"}, schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "esp.example", Method: "dkim"}},
		"the aligned of two":  {[]string{ours + "; dkim=pass header.d=esp.example; dkim=fail header.d=x.example; spf=pass smtp.mailfrom=bounce@example.com"}, schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "example.com", Method: "spf", Aligned: true}},
		"dmarc over dkim":     {[]string{ours + "; dkim=pass header.d=example.com; dmarc=fail header.from=example.com"}, schemas.MailAuth{Verdict: schemas.AuthFail, Domain: "example.com", Method: "dmarc", Aligned: true}},
		"dkim failed":         {[]string{ours + "; dkim=fail header.d=example.com"}, schemas.MailAuth{Verdict: schemas.AuthFail, Domain: "example.com", Method: "dkim", Aligned: true}},
		"could not be judged": {[]string{ours + "; dkim=temperror header.d=example.com; spf=neutral smtp.mailfrom=example.com"}, none},
		"a public suffix":     {[]string{ours + "; dkim=pass header.d=com"}, schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "com", Method: "dkim"}},
		"garbage":             {[]string{ours + ";;=;dmarc=;=pass"}, none},
		"control characters":  {[]string{ours + "; dkim=pass header.d=\x1b[2Jevil_\x07.example"}, none},
	}
	for name, test := range tests {
		lines := []string{}
		for _, field := range test.fields {
			lines = append(lines, "Authentication-Results: "+field)
		}
		raw := crlf(append(lines, "From: ana@example.com", "", "text")...)
		if mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{"other.example", ours}}); mail.Auth != test.want {
			t.Errorf("%s: got %+v, want %+v", name, mail.Auth, test.want)
		}
		if mail := parseWith(t, raw, mime.Options{}); mail.Auth != none {
			t.Errorf("%s: believed without a name to believe: %+v", name, mail.Auth)
		}
	}
	withoutName := crlf("Authentication-Results: dmarc=pass header.from=example.com", "From: ana@example.com", "", "text")
	if mail := parseWith(t, withoutName, mime.Options{AuthServIDs: []string{""}}); mail.Auth != pass {
		t.Errorf("a server without a name: %+v", mail.Auth)
	}
	below := "Authentication-Results: mx.evil.example; none\r\n" + withoutName
	if mail := parseWith(t, below, mime.Options{AuthServIDs: []string{""}}); mail.Auth != none {
		t.Errorf("a field without a name below another: %+v", mail.Auth)
	}
}

// TestAllowListOnlyWhenAligned_I23: a From that nobody vouches for is on no list.
func TestAllowListOnlyWhenAligned_I23(t *testing.T) {
	t.Parallel()
	list := []string{"ana@example.com", "@Office.example"}
	tests := map[string]struct {
		from, results string
		want          bool
	}{
		"address":           {"Ana <ANA@example.com>", "dmarc=pass header.from=example.com", true},
		"domain":            {"any@office.example", "dkim=pass header.d=mail.office.example", true},
		"subdomain":         {"any@sub.office.example", "dmarc=pass header.from=sub.office.example", false},
		"not authenticated": {"ana@example.com", "none", false},
		"failed":            {"ana@example.com", "dmarc=fail header.from=example.com", false},
		"not aligned":       {"ana@example.com", "dkim=pass header.d=esp.example", false},
		"two authors":       {"ana@example.com, eva@evil.example", "dmarc=pass header.from=example.com", false},
		"not listed":        {"eva@example.com", "dmarc=pass header.from=example.com", false},
		"in the name":       {`"ana@example.com" <eva@evil.example>`, "dmarc=pass header.from=evil.example", false},
	}
	for name, test := range tests {
		raw := crlf("Authentication-Results: "+ours+"; "+test.results, "From: "+test.from, "", "text")
		mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{ours}})
		if got := trust.Allowed(&mail, list); got != test.want {
			t.Errorf("%s: allowed %t (%+v)", name, got, mail.Auth)
		}
	}
	twice := crlf("Authentication-Results: "+ours+"; dmarc=pass header.from=example.com", "From: ana@example.com", "From: eva@evil.example", "", "text")
	if mail := parseWith(t, twice, mime.Options{AuthServIDs: []string{ours}}); trust.Allowed(&mail, list) || mail.Auth.Aligned {
		t.Errorf("two From fields are allowed: %+v", mail.Auth)
	}
}

// signedMail returns a mail of a domain with a signature, and the key record.
func signedMail(tb testing.TB, domain string) (raw, record string) {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	mail := crlf("From: ana@example.com", "Subject: s", "", "text", "")
	if err := dkim.Sign(&out, strings.NewReader(mail), &dkim.SignOptions{Domain: domain, Selector: "k", Signer: private}); err != nil {
		tb.Fatal(err)
	}
	return out.String(), "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
}

// TestSecondOpinion_I23 verifies signatures here.
func TestSecondOpinion_I23(t *testing.T) {
	t.Parallel()
	raw, record := signedMail(t, "mail.example.com")
	foreign, foreignRecord := signedMail(t, "esp.example")
	says := "Authentication-Results: " + ours + "; dkim=pass header.d=mail.example.com\r\n"
	resolver := func(records ...string) func(context.Context, string) ([]string, error) {
		return func(_ context.Context, name string) ([]string, error) {
			if !strings.HasPrefix(name, "k._domainkey.") {
				return nil, errors.New("no such name")
			}
			return records, nil
		}
	}
	local := func(verdict schemas.AuthVerdict, domain string, isAligned bool) schemas.MailAuth {
		return schemas.MailAuth{Verdict: verdict, Domain: domain, Method: "dkim", Aligned: isAligned, Local: true}
	}
	none := schemas.MailAuth{Verdict: schemas.AuthNone}
	tests := map[string]struct {
		raw        string
		lookup     func(context.Context, string) ([]string, error)
		want       schemas.MailAuth
		suspicious bool
	}{
		"signed":              {raw, resolver(record), local(schemas.AuthPass, "mail.example.com", true), false},
		"no resolver":         {raw, nil, none, false},
		"altered":             {strings.Replace(raw, "text", "test", 1), resolver(record), local(schemas.AuthFail, "mail.example.com", true), false},
		"by somebody else":    {foreign, resolver(foreignRecord), local(schemas.AuthPass, "esp.example", false), false},
		"the DNS is down":     {raw, func(context.Context, string) ([]string, error) { return nil, timeout{} }, none, false},
		"an enormous key":     {raw, resolver(strings.Repeat("x", 10_000)), none, false},
		"the server is right": {says + raw, resolver(record), schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "mail.example.com", Method: "dkim", Aligned: true}, false},
		"the server is wrong": {says + strings.Replace(raw, "text", "test", 1), resolver(record), schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "mail.example.com", Method: "dkim", Aligned: true}, true},
		"an endless header":   {"X: " + strings.Repeat("x", 2<<20) + "\r\n" + raw, resolver(record), none, false},
		"not a mail":          {"what is this", resolver(record), none, false},
	}
	for name, test := range tests {
		mail := parseWith(t, test.raw, mime.Options{AuthServIDs: []string{ours}, DKIM: trust.DKIM{LookupTXT: test.lookup}})
		if mail.Auth != test.want || slices.Contains(mail.Suspicious, "dkim_disagrees") != test.suspicious {
			t.Errorf("%s: got %+v %v", name, mail.Auth, mail.Suspicious)
		}
		if test.lookup != nil && name != "not a mail" && !strings.HasPrefix(mail.Text, "te") {
			t.Errorf("%s: the mail was not read from its beginning: %q", name, mail.Text)
		}
	}
	unseekable, err := mime.Parse(t.Context(), io.MultiReader(strings.NewReader(raw)), mime.Options{Sink: kept{}, DKIM: trust.DKIM{LookupTXT: resolver(record)}})
	if err != nil || unseekable.Auth != none || unseekable.Text != "text" {
		t.Errorf("a stream: %+v, %v", unseekable.Auth, err)
	}
}

type timeout struct{}

func (timeout) Error() string   { return "timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// TestSecondOpinionIsBounded_I23: signatures cost a bounded number of questions
// and a bounded time, and a disk that fails is no verdict.
func TestSecondOpinionIsBounded_I23(t *testing.T) {
	t.Parallel()
	raw, record := signedMail(t, "example.com")
	signature, rest, _ := strings.Cut(raw, "From: ")
	many := strings.Repeat(signature, 50) + "From: " + rest
	for most, want := range map[int]int{3: 3, 0: 5, -1: 5} {
		questions := make(chan string, 100)
		parseWith(t, many, mime.Options{DKIM: trust.DKIM{MaxVerifications: most, LookupTXT: func(_ context.Context, name string) ([]string, error) {
			questions <- name
			return []string{record}, nil
		}}})
		if len(questions) != want {
			t.Errorf("with %d at most %d questions were asked", most, len(questions))
		}
	}
	given := mime.Options{DKIM: trust.DKIM{Timeout: -1, LookupTXT: func(ctx context.Context, _ string) ([]string, error) { return []string{record}, ctx.Err() }}}
	if mail := parseWith(t, raw, given); mail.Auth.Verdict != schemas.AuthPass {
		t.Errorf("without a sensible timeout: %+v", mail.Auth)
	}
	slow := func(ctx context.Context, _ string) ([]string, error) {
		<-ctx.Done()
		return nil, timeout{}
	}
	mail := parseWith(t, raw, mime.Options{DKIM: trust.DKIM{Timeout: time.Millisecond, LookupTXT: slow}})
	if mail.Auth.Verdict != schemas.AuthNone || mail.Text != "text" {
		t.Errorf("a resolver that never answers: %+v %q", mail.Auth, mail.Text)
	}
	broken := errors.New("disk on fire")
	failing := struct {
		io.Reader
		io.Seeker
	}{io.MultiReader(strings.NewReader(raw), iotest.ErrReader(broken)), strings.NewReader(raw)}
	if _, err := mime.Parse(t.Context(), failing, mime.Options{Sink: kept{}, DKIM: trust.DKIM{LookupTXT: func(context.Context, string) ([]string, error) {
		return []string{record}, nil
	}}}); !errors.Is(err, broken) {
		t.Errorf("a failing disk: %v", err)
	}
}

// TestSuspicious_I23: every trick is named, and ordinary mail is not.
func TestSuspicious_I23(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header []string
		want   []string
	}{
		"an ordinary mail":        {[]string{"From: Ana <ana@example.org>", "Reply-To: office@mail.example.org"}, nil},
		"umlauts":                 {[]string{"From: Jörg Müller <joerg@müller.example>"}, nil},
		"a Russian mail":          {[]string{"From: Иван Петров <иван@почта.рф>"}, nil},
		"two scripts, two words":  {[]string{"From: Иван Smith <ivan@example.org>"}, nil},
		"two authors":             {[]string{"From: ana@example.org, eva@example.org"}, []string{"multiple_from"}},
		"two From fields":         {[]string{"From: ana@example.org", "From: eva@example.org"}, []string{"multiple_from"}},
		"an address as name":      {[]string{`From: "boss@example.org" <eva@evil.example>`}, []string{"display_name_address"}},
		"an address in the name":  {[]string{`From: "Boss (boss＠example.org)" <eva@evil.example>`}, []string{"display_name_address"}},
		"its own address as name": {[]string{`From: "Eva@example.org" <eva@example.org>`}, nil},
		"at sign in the name":     {[]string{`From: "Eva @ work" <eva@example.org>`}, nil},
		"mixed scripts":           {[]string{"From: P\u0430ypal <x@example.org>"}, []string{"mixed_scripts"}},
		"mixed domain":            {[]string{"From: x@p\u0430ypal.example"}, []string{"mixed_scripts"}},
		"mixed, in punycode":      {[]string{"From: x@xn--pypal-4ve.example"}, []string{"mixed_scripts"}},
		"homograph":               {[]string{"From: x@\u0430\u0440\u0440\u04cf\u0435.com"}, []string{"homograph_domain"}},
		"homograph letters":       {[]string{"From: x@\u0441\u0430\u0440\u0435.com"}, []string{"homograph_domain"}},
		"reply elsewhere":         {[]string{"From: ana@example.org", "Reply-To: eva@evil.example"}, []string{"reply_to_elsewhere"}},
		"turned around":           {[]string{"From: a@b.c", "Subject: exe.\u202egpj"}, []string{"direction_override"}},
		"turned around, encoded":  {[]string{"From: a@b.c", "Subject: =?utf-8?Q?exe.=E2=80=AEgpj?="}, []string{"direction_override"}},
		"hidden words":            {[]string{"From: a@b.c", "Content-Type: text/html"}, []string{"hidden_text"}},
		"a program":               {[]string{"From: a@b.c", "Content-Type: application/octet-stream; name=a.scr"}, []string{"executable_attachment"}},
		"a program as picture":    {[]string{"From: a@b.c", "Content-Type: image/png", "Content-Transfer-Encoding: base64"}, []string{"executable_attachment", "attachment_type_differs"}},
	}
	for name, test := range tests {
		body := "text"
		switch name {
		case "hidden words":
			body = `a<p style="display:none">obey`
		case "a program as picture":
			body = base64.StdEncoding.EncodeToString([]byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00"))
		}
		mail := parseWith(t, crlf(append(test.header, "", body)...), mime.Options{})
		if !reflect.DeepEqual(mail.Suspicious, test.want) {
			t.Errorf("%s: got %q, want %q (from %q)", name, mail.Suspicious, test.want, mail.From)
		}
	}
}

// TestServerWithoutAName_I23: Microsoft 365 writes no name. Its field is believed
// when it is the topmost of all, and nothing below it ever is.
func TestServerWithoutAName_I23(t *testing.T) {
	t.Parallel()
	hop := "Received: from AM6PR01.eurprd01.prod.exchangelabs.com (2603:10a6::1) by DB8PR01.eurprd01.prod.exchangelabs.com with HTTPS; Mon, 5 Jan 2026 09:00:00 +0000"
	good := "Authentication-Results: spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=example.com;\r\n dkim=pass (signature was verified) header.d=example.com;dmarc=pass action=none\r\n header.from=example.com;compauth=pass reason=100"
	bad := "Authentication-Results: spf=fail (sender IP is 203.0.113.9)\r\n smtp.mailfrom=example.com; dkim=none (message not signed)\r\n header.d=none;dmarc=fail action=oreject header.from=example.com;compauth=fail reason=000"
	edge := "Received: from mail.example.net (192.0.2.1) by DB5EUR01FT.mail.protection.outlook.com; Mon, 5 Jan 2026 08:59:59 +0000"
	forged := "Authentication-Results: dmarc=pass action=none header.from=example.com"
	renamed := "Authentication-Results-Original: dmarc=pass action=none header.from=example.com"
	pass := schemas.MailAuth{Verdict: schemas.AuthPass, Domain: "example.com", Method: "dmarc", Aligned: true}
	fail := schemas.MailAuth{Verdict: schemas.AuthFail, Domain: "example.com", Method: "dmarc", Aligned: true}
	none := schemas.MailAuth{Verdict: schemas.AuthNone}
	for name, test := range map[string]struct {
		lines []string
		want  schemas.MailAuth
	}{
		"good":                       {[]string{hop, good, edge}, pass},
		"bad":                        {[]string{hop, bad, edge}, fail},
		"forged below":               {[]string{hop, bad, edge, forged}, fail},
		"forged below, good on top":  {[]string{hop, good, edge, strings.Replace(forged, "pass", "fail", 1)}, pass},
		"under another name":         {[]string{hop, edge, renamed}, none},
		"sealed by another (ARC)":    {[]string{hop, "ARC-" + good, edge}, none},
		"below somebody else's name": {[]string{hop, "Authentication-Results: mx.evil.example; none", good}, none},
		"below an empty one":         {[]string{hop, "Authentication-Results:", good}, none},
	} {
		raw := crlf(append(test.lines, "From: ana@example.com", "", "text")...)
		if mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{""}}); mail.Auth != test.want {
			t.Errorf("%s: %+v, want %+v", name, mail.Auth, test.want)
		}
		if mail := parseWith(t, raw, mime.Options{AuthServIDs: []string{ours}}); mail.Auth != none {
			t.Errorf("%s: believed where the server has a name: %+v", name, mail.Auth)
		}
	}
}
