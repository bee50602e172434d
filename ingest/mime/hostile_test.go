package mime_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// A family makes mails that are wrong in one way, a different one for each seed.
type family struct {
	name string
	make func(r *rand.Rand) string
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// bytesOf returns n random bytes out of an alphabet.
func bytesOf(r *rand.Rand, n int, alphabet string) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

func anyBytes(r *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return string(out)
}

// mailOf makes a mail with a header of lines and a body.
func mailOf(r *rand.Rand, body string, fields ...string) string {
	newline := pick(r, "\r\n", "\n")
	return strings.Join(append([]string{"From: Ana <ana@example.org>", "Message-ID: <1@example.org>"}, fields...), newline) + newline + newline + body
}

func multipartOf(r *rand.Rand, kind, boundary string, parts ...string) string {
	var body strings.Builder
	for _, part := range parts {
		body.WriteString("--" + boundary + "\r\n" + part + "\r\n")
	}
	return mailOf(r, body.String()+"--"+boundary+"--\r\n", fmt.Sprintf("Content-Type: multipart/%s; boundary=%q", kind, boundary))
}

func families() []family {
	return []family{
		{"header faults", func(r *rand.Rand) string {
			fault := pick(r, "no colon here", ": no name", " folded before anything", "Na me: x", "X-\x00: y", "Subject", strings.Repeat("x", 400)+": y", "Sübject: y", "From : b@c.d", "\tx", ">From x", "--")
			lines := []string{"From: ana@example.org", "Subject: s", "To: b@example.org", fault}
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			return strings.Join(lines, pick(r, "\r\n", "\n")) + pick(r, "\r\n\r\nbody", "\n\nbody", "", "\r\n")
		}},
		{"charset lies", func(r *rand.Rand) string {
			label := pick(r, "utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-7", "iso-2022-jp", "shift_jis", "gb18030", "x-unknown", "hz-gb-2312", "windows-1252", "", `"`, "utf-8; charset=koi8-r", "iso-2022-kr", strings.Repeat("a", 300))
			return mailOf(r, anyBytes(r, 1+r.IntN(500)), "Content-Type: "+pick(r, "text/plain", "text/html")+"; charset="+label)
		}},
		{"boundaries", func(r *rand.Rand) string {
			outside, inside := pick(r, "a", "a b", strings.Repeat("x", 300), "a--", "\"", "=_?", "", "ä"), pick(r, "a", "a b", "a--", "aa", "b")
			return mailOf(r, "pre\r\n--"+inside+"\r\n\r\none\r\n--"+inside+pick(r, "", "--", "-- ", " x")+"\r\n\r\ntwo\r\n--"+inside, "Content-Type: multipart/"+pick(r, "mixed", "alternative", "", "digest", "form-data")+"; boundary="+pick(r, `"`+outside+`"`, outside, outside+"; boundary=b"))
		}},
		{"nesting", func(r *rand.Rand) string {
			var mail strings.Builder
			mail.WriteString("From: a@b.c\r\n")
			for i := range 1 + r.IntN(60) {
				mail.WriteString(pick(r, fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i), "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", "Content-Type: message/rfc822\r\n\r\nFrom: x@y.z\r\n"))
			}
			return mail.String() + pick(r, "", "\r\ntext", "--b--\r\n")
		}},
		{"encoded words", func(r *rand.Rand) string {
			word := "=?" + pick(r, "utf-8", "iso-2022-jp", "x", "", "utf-8*de", "gb2312") + "?" + pick(r, "Q", "B", "q", "X", "") + "?" + pick(r, "=C3", "/w==", "====", "=ZZ", "a b", "GyRC", bytesOf(r, 20, "AZaz09+/=_?")) + pick(r, "?=", "?", "", "=")
			return mailOf(r, "text", "Subject: "+strings.Repeat(word+pick(r, " ", "", "\r\n "), 1+r.IntN(40)), "To: "+word+" <b@c.d>, "+word, "Content-Type: text/plain; name=\""+word+"\"")
		}},
		{"parameters", func(r *rand.Rand) string {
			parameter := pick(r, "filename*=utf-8''%C3", "filename*0*=utf-8''%; filename*1=x", "filename*99999999999=x", "filename*-1*=x", `filename="a\`, "filename=;;;=", "*=*", `filename="`+anyBytesLine(r)+`"`, "filename*=x'y'z'%00%ff", strings.Repeat("a=b;", 200), "filename=../../../etc/passwd", `filename="con\nout"`)
			return mailOf(r, "x", "Content-Type: image/png; "+parameter, "Content-Disposition: "+pick(r, "attachment", "inline", "", `"`, "ATTACHMENT ;")+"; "+parameter)
		}},
		{"addresses", func(r *rand.Rand) string {
			address := pick(r, "<>", "@", "a@", "@b", "a@b@c", `"a@b`, "group:;", "undisclosed-recipients:;", "<<a@b>>", "a b c", "(comment", `"\`, "a@[1.2.3.4]", "<@r,@s:a@b.c>", ",,,;;;", "ä@ö.ü", "=?utf-8?q?a=40b?= <c@d.e>", strings.Repeat("a", 2000)+"@b.c", "a@b.c>, <d@e.f", "\x00@\x01")
			return "From: " + address + "\r\nTo: " + address + ", " + address + "\r\nReply-To: " + address + "\r\nCc: " + strings.Repeat(address+",", 3) + "\r\n\r\nx"
		}},
		{"dates", func(r *rand.Rand) string {
			return mailOf(r, "x", "Date: "+pick(r, "Mon, 99 Foo 2026 99:99:99 +9999", "0", "now", "Mon, 1 Jan 0001 00:00:00 +0000", "Fri, 31 Dec 99999 00:00:00 +0000", "1 Jan 70 00:00 UT", "\xff\xfe", "Thu, 1 Jan 1970 00:00:00 (comment", "-1 Jan 2026 00:00:00 -0000", "2026-01-01", "Mon, 5 Jan 2026 09:00:00 +0100 (CET"), "Date: twice")
		}},
		{"control bytes", func(r *rand.Rand) string {
			controls := bytesOf(r, 1+r.IntN(50), "\x00\x01\x07\x08\x0b\x0c\x0e\x1a\x1b\x7f\x80\x9f")
			return mailOf(r, controls+"\r\ntext"+controls, "Subject: a"+controls+"b", "X-\x07: "+controls, "Content-Type: text/"+pick(r, "plain", "html", "pl\x00ain"))
		}},
		{"huge lines", func(r *rand.Rand) string {
			long := strings.Repeat(pick(r, "x", "\xff", "=", "a ", "<", "--b", ">"), 10_000+r.IntN(100_000))
			return mailOf(r, long, "Subject: "+long[:r.IntN(len(long))], pick(r, "X: y", "Content-Type: text/html", "Content-Transfer-Encoding: quoted-printable", "Content-Type: multipart/mixed; boundary=b"))
		}},
		{"broken transfer encodings", func(r *rand.Rand) string {
			body := base64.StdEncoding.EncodeToString([]byte(anyBytes(r, 100)))
			encoding := pick(r, "base64", "quoted-printable", "x-uuencode", "uuencode", "base64 base64", "binhex", "=?utf-8?q?base64?=", "8bit; x", "")
			return mailOf(r, pick(r, body[:r.IntN(len(body))], "=\r\n=\r\n==3", "begin 644 x\r\n#86)C\r\n", "begin 644 x\r\nM"+body, "=C3=", "====", "end"), "Content-Transfer-Encoding: "+encoding, "Content-Type: "+pick(r, "text/plain; charset=utf-8", "image/png", "message/rfc822"))
		}},
		{"8-bit headers", func(r *rand.Rand) string {
			cyrillic, _ := charmap.KOI8R.NewEncoder().String("Привет мир, как дела")
			kanji, _ := japanese.ShiftJIS.NewEncoder().String("こんにちは世界")
			raw := pick(r, cyrillic, kanji, "Gr\xfc\xdfe", "\xf0\x9f", "Ω\xff", "\xed\xa0\x80", anyBytesLine(r))
			return mailOf(r, raw, "Subject: "+raw, "To: "+raw+" <b@c.d>", "X-"+raw+": x", "Content-Disposition: attachment; filename="+raw)
		}},
		{"mixed line ends", func(r *rand.Rand) string {
			lines := []string{"From: a@b.c", "Subject: s", "Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "Content-Type: text/html", "", "<p>two", "--b--"}
			var mail strings.Builder
			for _, line := range lines {
				mail.WriteString(line + pick(r, "\r\n", "\n", "\r", "\r\r\n", "\n\r"))
			}
			return mail.String()
		}},
		{"almost empty", func(r *rand.Rand) string {
			return pick(r, "From:", "From: a@b.c", "x", "X:y", "From: a@b.c\r\n\r\n", ":", "a\n\nb", "From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b--") + strings.Repeat(pick(r, "\n", "\r\n"), r.IntN(4))
		}},
		{"byte order marks", func(r *rand.Rand) string {
			return pick(r, "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff") + mailOf(r, pick(r, "\xef\xbb\xbftext", "\xff\xfet\x00e\x00", "text"), "Subject: \xef\xbb\xbfs", "Content-Type: text/plain; charset="+pick(r, "utf-8", "utf-16", "utf-16le", "utf-32"))
		}},
		{"html", func(r *rand.Rand) string {
			tag := pick(r, "<div style=\"display:none", "<blockquote>", "<!--", "<style>.x{", "<style>@media{.y{display:none}}", "<a href='", "&#x110000;", "&#0;", "<p hidden", "</body></html>", "<![CDATA[", "<script>", "<font color=#ffg>", "<td bgcolor=", "<svg><title>", "<\x00div>", "&nbsp")
			return mailOf(r, strings.Repeat(tag+"word ", 1+r.IntN(500)), "Content-Type: text/html; charset="+pick(r, "utf-8", "iso-8859-1"))
		}},
		{"reports", func(r *rand.Rand) string {
			return multipartOf(r, "report; report-type="+pick(r, "delivery-status", "disposition-notification", "x"), "b", "\r\nwords",
				"Content-Type: message/"+pick(r, "delivery-status", "global-delivery-status")+"\r\n\r\n"+pick(r, "Reporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; a@b.c\r\nAction: failed\r\nStatus: 5.1.1\r\n", "Action: exploded\r\nStatus: 9.9.9.9\r\n", "\r\n\r\n\r\n", anyBytes(r, 200)),
				"Content-Type: "+pick(r, "message/rfc822", "text/rfc822-headers", "message/global")+"\r\n\r\nMessage-ID: "+pick(r, "<1@x>", "<", anyBytesLine(r))+"\r\n\r\nx")
		}},
		{"attachments", func(r *rand.Rand) string {
			content := pick(r, "PK\x03\x04", "PK\x05\x06"+strings.Repeat("\x00", 18), "PK\x05\x06"+strings.Repeat("\xff", 18), "MZ\x90\x00", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID", "\x78\x9f\x3e\x22", "%PDF", anyBytes(r, 300))
			return multipartOf(r, "mixed", "b", "\r\nwords", "Content-Type: "+pick(r, "application/zip", "text/calendar; method=REQUEST", "image/png", "application/ms-tnef", "message/rfc822", "x/y")+"\r\nContent-Disposition: attachment; filename=a.zip\r\n\r\n"+content)
		}},
		{"authentication", func(r *rand.Rand) string {
			return mailOf(r, "x", "Authentication-Results: "+pick(r, "mx.example.org; dmarc=pass header.from=example.org", "mx.example.org;;;=;", "mx.example.org; dkim=pass (((", `mx.example.org; dkim="pass`, "mx.example.org 1; none", "=;=", anyBytesLine(r)), "DKIM-Signature: "+pick(r, "v=1", "b=;;", anyBytesLine(r)))
		}},
		{"damage", func(r *rand.Rand) string {
			mail := []byte(multipartOf(r, "mixed", "b", "Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße", "Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+aGk=", "Content-Type: image/png; name=a.png\r\n\r\nx"))
			for range 1 + r.IntN(30) {
				mail[r.IntN(len(mail))] = byte(r.Uint32())
			}
			return string(mail[:1+r.IntN(len(mail))])
		}},
	}
}

// anyBytesLine returns random bytes without line ends.
func anyBytesLine(r *rand.Rand) string {
	return strings.NewReplacer("\n", "?", "\r", "?").Replace(anyBytes(r, 1+r.IntN(80)))
}

// TestHostileMails_I15 reads mails that are wrong in every way known, each way in
// twenty forms; the same ones every time.
func TestHostileMails_I15(t *testing.T) {
	t.Parallel()
	var counted tally
	for number, one := range families() {
		for seed := range uint64(20) {
			raw := one.make(rand.New(rand.NewPCG(uint64(number), seed))) //nolint:gosec // reproducible on purpose
			counted.read(t, fmt.Sprintf("%s %d", one.name, seed), []byte(raw))
		}
	}
	counted.within(t, 400)
}
