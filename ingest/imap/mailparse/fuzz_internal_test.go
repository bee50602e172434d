package mailparse

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"podium/schemas"
)

func valid(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	}
}

// FuzzHeader proves that a header is read to its end, that no field is made up,
// and that what follows is left for the body.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{
		"From: a\r\nSubject: b\r\n c\r\n\r\nbody", "no colon\nFrom: a\n\nb", "From a@b\nX: y\n", ": \n\n", "A: b\nHello you\n", " x\nA: b\n\n", "\r\n\r\nA: b\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines := newLineReader(bytes.NewReader(raw))
		h := readHeader(lines, DefaultLimits(), &problems{})
		size := 0
		for _, one := range h {
			if one.name == "" || one.name != strings.ToLower(one.name) || strings.ContainsAny(one.value, "\n") {
				t.Fatalf("field %q: %q", one.name, one.value)
			}
			size += len(one.name) + len(one.value)
		}
		rest, err := io.ReadAll(lines.body())
		if err != nil || size+len(rest) > len(raw) {
			t.Fatalf("%d bytes of fields and %d of body out of %d (%v)", size, len(rest), len(raw), err)
		}
	})
}

// FuzzQuotation proves that nothing is lost and nothing is added when a text is
// split, but for blanks and empty lines.
func FuzzQuotation(f *testing.F) {
	for _, seed := range []string{
		"Yes.\n\nOn 5 Jan, Ana wrote:\n> a\nb\n> c", "Ja.\n-----Ursprüngliche Nachricht-----\nVon: x", "> only", "Oui.\nDe : a\nEnvoyé : b\nÀ : c\n\nd", "x\n\nSent from my iPhone",
		"________\nFrom: a\nTo: b\nCc: c\n", "Le 5 a\na écrit\n:\n>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text := clean(raw)
		words, quoted, signature := DefaultLanguages().splitText(text, occasion{reply: len(raw)%2 == 0, forwarded: len(raw)%7 == 0})
		valid(t, words, signature, quoted)
		if got, want := letterCount(words+signature+quoted), letterCount(text); got != want {
			t.Fatalf("%d characters became %d:\n%q\n%q\n%q", want, got, words, signature, quoted)
		}
		if words == "" && quoted != "" {
			t.Fatalf("everything is taken for a quotation: %q", text)
		}
	})
}

// letterCount counts what is no blank.
func letterCount(text string) int { return len(strings.Join(strings.Fields(text), "")) }

// FuzzAddresses proves that the number of addresses is bounded and that each has
// two sides.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{
		"a@b.c", `"Muster, Max" <a@b.c>, e@f.g`, "=?utf-8?Q?M=C3=BC?= <a@b.c>", "group: a@b.c, d@e.f;", "Max <a@b.c", `"\`, "<@a:b@c>", "mailto:a@b.c", "(", "a@b;c@d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		left := 10
		list := addresses(header{{name: "to", value: raw}, {name: "to", value: raw}}, "to", &left, &problems{})
		if len(list) > 10 || left != 10-len(list) {
			t.Fatalf("%d addresses, %d left", len(list), left)
		}
		for _, one := range list {
			valid(t, one.Name, one.Address)
			if strings.ContainsAny(one.Name+one.Address, "\r\n\x00") {
				t.Fatalf("address %q", one)
			}
			mixesScripts(one)
			looksLatin(one)
			posesAsAnother(one)
		}
	})
}

// FuzzHTML proves that no page breaks the converter.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"<p>a</p><div style='display:none'>b</div>", "<style>.a{display:none}</style><p class=a>x", "<blockquote>a<pre>\nb", "<a href='https://x'>y</a>", "<!--", "<style>@media{.a{", "<td bgcolor=#fff><font color=#ffg>", "&#x0;&bogus;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		visible, hidden := htmlToText(page)
		valid(t, visible, hidden)
	})
}

// FuzzAuthResults proves that only a field of the server that is asked for is
// believed, and that a pass names a domain.
func FuzzAuthResults(f *testing.F) {
	for _, seed := range []string{
		"mx.example.org; dmarc=pass header.from=example.com", "mx.example.org 1; dkim=pass (x (y)) header.d=a.b", `mx.example.org; spf=pass reason="a;b" smtp.mailfrom=x@y.z`, "spf=pass smtp.mailfrom=a.b", "evil; dmarc=pass", ";;=", `"mx.example.org"; dkim=pass header.i=@x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		h := header{{name: "authentication-results", value: value}}
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

// FuzzAttached proves that what is inside attachments breaks nothing and stays
// within its bounds.
func FuzzAttached(f *testing.F) {
	for _, seed := range []string{
		"From: a@b.c\n\nx", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260101\nEND:VEVENT", "Final-Recipient: rfc822; a@b\nStatus: 5.1.1\n\nAction: failed\n", "PK\x05\x06" + strings.Repeat("\x00", 18),
		"PK\x03\x04", "begin 644 x\n#86)C\nend\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range []string{"message/rfc822", "text/calendar", "message/delivery-status", "text/rfc822-headers", "application/zip"} {
			w := &walker{sink: measuringSink{}, limits: DefaultLimits(), languages: DefaultLanguages(), lines: newLineReader(bytes.NewReader(raw)), problems: &problems{}, budget: 1 << 10, allowance: fullAllowance()}
			if err := w.attachment(t.Context(), bytes.NewReader(raw), &leafPart{mediaType: kind}); err != nil {
				t.Fatal(err)
			}
			attachment := w.attachments[0]
			if len(attachment.Entries) > maxEntries || len(w.calendar) > 20 || len(attachment.Messages) > 100 {
				t.Fatalf("a bound was passed: %d, %d, %d", len(attachment.Entries), len(w.calendar), len(attachment.Messages))
			}
			body, err := schemas.Marshal(attachment)
			if err != nil || !utf8.Valid(body) {
				t.Fatalf("it cannot be written: %v", err)
			}
		}
		if _, err := io.Copy(io.Discard, decodeTransfer("x-uuencode", bytes.NewReader(raw), &problems{})); err != nil {
			t.Fatal(err)
		}
	})
}
