package mime

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/mail"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"

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
		"From: a\r\nSubject: b\r\n c\r\n\r\nbody", "no colon\nFrom: a\n\nb", "From: a\nHello you\n\nmore", "Content-Transfer-Encoding: base64\nSGVs\n\n", "From a@b\nX: y\n", ": \n\n", "A: b\nHello you\n", " x\nA: b\n\n", "\r\n\r\nA: b\r\n\r\n",
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

// FuzzAddresses proves that the number of addresses is bounded, that each has two
// sides, that none is made up, and that nobody else finds another one in a list
// which is not disputed: what net/mail reads is what is read here.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{
		"a@b.c", `"Muster, Max" <a@b.c>, e@f.g`, "=?utf-8?Q?M=C3=BC?= <a@b.c>", "group: a@b.c, d@e.f;", "Max <a@b.c", `"\`, "<@a:b@c>", "mailto:a@b.c", "(", "a@b;c@d",
		"vic tim@b.c", "pete(his account)@silly.test(host)", "<@a,@b:user@host>", "a@b.c>", "a@[192.0.2.1]", `"a b"@c.d`, "a@b.c (d@e.f)", "a\u202eb@c.d", "=?utf-8?Q?a=40b?= <c@d>", "((a)b@c",
		"a . b@c . d", "<<a@b>>", "a@b <c@d>", "\x1b$B<a@b>\x1b(B", "g:;", "a@b\x00@c", `"a".b@c`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		left := 10
		list := readAddresses(header{{name: "to", value: raw}, {name: "to", value: raw}}, "to", &left, &problems{}).list
		if len(list) > 10 || left != 10-len(list) {
			t.Fatalf("%d addresses, %d left", len(list), left)
		}
		for _, one := range list {
			valid(t, one.Name, one.Address)
			if at := strings.LastIndexByte(one.Address, '@'); at <= 0 || at == len(one.Address)-1 || strings.ContainsFunc(one.Address, unseen) || strings.ContainsAny(one.Name, "\r\n\x00") {
				t.Fatalf("address %q", one)
			}
			mixesScripts(one)
			looksLatin(one)
			posesAsAnother(one)
		}
		left = 10
		once := readAddresses(header{{name: "to", value: raw}}, "to", &left, &problems{})
		if once.disputed {
			return
		}
		for _, one := range once.list {
			at := strings.LastIndexByte(one.Address, '@')
			if local, domain := one.Address[:at], one.Address[at+1:]; local[0] != '"' && !strings.Contains(raw, local) || !strings.Contains(raw, domain) {
				t.Fatalf("%q does not stand in %q", one.Address, raw)
			}
		}
		theirs, err := mail.ParseAddressList(raw)
		if err != nil || len(theirs) > 10 || !utf8.ValidString(raw) || strings.ContainsFunc(raw, unicode.IsControl) {
			return
		}
		for i, one := range theirs {
			if i >= len(once.list) || plainSpec(once.list[i].Address) != one.Address {
				if strings.ContainsFunc(one.Address, unseen) || strings.Contains(one.Address, "=?") || len(one.Address) > maxAddress {
					return // it is refused here
				}
				t.Fatalf("%q: got %q, net/mail %q", raw, once.list, one.Address)
			}
		}
	})
}

// plainSpec writes an address as net/mail does, without the quotation marks.
func plainSpec(address string) string {
	at := strings.LastIndexByte(address, '@')
	return unquote(address[:at]) + address[at:]
}

// FuzzCharacters proves that damage is one character each, and that nothing else changes.
func FuzzCharacters(f *testing.F) {
	for _, seed := range []string{"Gr\xc3\xbc\xff\xc3\x9fe", "\xe2\x82", "\xed\xa0\x80\xc3\xbc", "\xf0\x9f\x98\x80\xf0\x9f", "\xc0\xaf", "\x1b$B\xff", "\xf4\x90\x80\x80", "+APw-", "+2D0-", "+", "a+-b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, label := range []string{"", "utf-8", "us-ascii", "utf-7", "iso-2022-jp", "windows-1252", "x-unknown"} {
			valid(t, toUTF8(data, label, &problems{}))
		}
		valid(t, decodeUTF7(data))
		text, _ := mend(data)
		if escaped(data) {
			return
		}
		valid(t, text)
		kept := strings.ReplaceAll(text, "\uFFFD", "")
		if want := strings.ReplaceAll(strings.ToValidUTF8(string(data), ""), "\uFFFD", ""); kept != want {
			t.Fatalf("%q became %q", data, text)
		}
		// The decoder for the web, which x/text has no name for, replaces as browsers do.
		decoded, err := utf16.UTF8.NewDecoder().Bytes(data)
		if err != nil || utf8.Valid(data) && string(decoded) != text {
			t.Fatalf("%q became %q, x/text has %q (%v)", data, text, decoded, err)
		}
	})
}

// FuzzUTF7 proves that what is encoded comes back.
func FuzzUTF7(f *testing.F) {
	for _, seed := range []string{"Grüße", "1 + 1", "日本語 😀", "a-b", "", "\u0000", "~\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		var out strings.Builder
		for _, r := range text {
			units, _ := utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM).NewEncoder().String(string(r))
			out.WriteString("+" + base64.RawStdEncoding.EncodeToString([]byte(units)) + "-")
		}
		if got := decodeUTF7([]byte(out.String())); got != text {
			t.Fatalf("%q became %q by %q", text, got, out.String())
		}
	})
}

// FuzzBase64 proves that base64 is decoded as encoding/base64 does, in lines of any
// length and in pieces of any length, that words below it add nothing, and that no
// input gives more than it can hold.
func FuzzBase64(f *testing.F) {
	f.Add([]byte("Hello"), byte(4), "Regards\nAna")
	f.Add([]byte(strings.Repeat("Hello Ana ", 20)), byte(75), "__________\nTalk mailing list")
	f.Add([]byte{0xff, 0xfe, 0xfd}, byte(1), "SGVsbG8=")
	f.Add([]byte{}, byte(0), "====\n-- \n")
	f.Add([]byte(strings.Repeat("x", 9000)), byte(76), "QUJD QUJD\n\nA=B=")
	f.Fuzz(func(t *testing.T, data []byte, width byte, below string) {
		encoded := base64.StdEncoding.EncodeToString(data)
		var lines strings.Builder
		for i := 0; i < len(encoded); i += int(width) + 1 {
			lines.WriteString(encoded[i:min(len(encoded), i+int(width)+1)] + "\r\n")
		}
		var found problems
		got, err := io.ReadAll(iotest.OneByteReader(newBase64Reader(strings.NewReader(lines.String()), &found)))
		if err != nil || !bytes.Equal(got, data) || len(found.list) > 0 {
			t.Fatalf("%q became %q, %q (%v)", data, got, found.list, err)
		}
		whole, err := io.ReadAll(newBase64Reader(strings.NewReader(lines.String()+below), &problems{}))
		if err != nil || !bytes.HasPrefix(whole, data) && strings.Contains(encoded, "=") || len(whole) > len(lines.String()+below) {
			t.Fatalf("%q and %q became %q (%v)", data, below, whole, err)
		}
		halves, err := io.ReadAll(newBase64Reader(iotest.HalfReader(strings.NewReader(lines.String()+below)), &problems{}))
		if err != nil || !bytes.Equal(halves, whole) {
			t.Fatalf("it depends on how it is read: %q and %q (%v)", whole, halves, err)
		}
	})
}

// FuzzFlowed proves that joining lines loses nothing and adds nothing but blanks.
func FuzzFlowed(f *testing.F) {
	for _, seed := range []string{"a \nb", "> a \n> b\nc", "-- \nx", " > a", ">> a \n> b", "", "\n\n", " \n "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		text := clean(raw)
		marks := func(text string) string { return strings.ReplaceAll(strings.Join(strings.Fields(text), ""), ">", "") }
		for _, deleteSpace := range []bool{false, true} {
			if got := unflow(text, deleteSpace); marks(got) != marks(text) || len(got) > 2*len(text) {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}

// FuzzDates proves that a date is within its years.
func FuzzDates(f *testing.F) {
	for _, seed := range []string{"Fri, 30 Jan 2026 10:00:00 (EDT) -0400", "1 Jan 70 00:00 EST", "EDT", " ", "(", "1 -0400 EDT", "2026-01-30T10:00:00Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if date, ok := parseDate(value); ok && (date.Year() < 1900 || date.Year() > 9999) || !ok && !date.IsZero() {
			t.Fatalf("%q became %s", value, date)
		}
	})
}

// FuzzIDs proves that an id is one line of bounded length, and that it is not empty.
func FuzzIDs(f *testing.F) {
	for _, seed := range []string{"<a@b> <c@d>", "=?utf-8?Q?=3Ca=40b=3E?= <c@d>", "<=?utf-8?Q?a?=@b>", "a@b", "<", "=?utf-8?B?PGE=?=", "<a =?x?q?b?=>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, id := range messageIDs(value) {
			valid(t, id)
			if id == "" || len(id) > maxMessageID || strings.ContainsAny(id, " \r\n") {
				t.Fatalf("%q gives %q", value, id)
			}
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
