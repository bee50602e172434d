package mime_test

import (
	"cmp"
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"podium/ingest/mime"
	"podium/schemas"
)

// part makes a part, or a mail, of a type and of lines.
func part(contentType string, lines ...string) string {
	return crlf(append([]string{"Content-Type: " + contentType, ""}, lines...)...)
}

// multi makes a multipart of parts.
func multi(kind, boundary string, parts ...string) string {
	var body []string
	for _, one := range parts {
		body = append(body, "--"+boundary, one)
	}
	return part("multipart/"+kind+"; boundary="+boundary, append(body, "--"+boundary+"--", "")...)
}

// TestPartsOfAnAlternative_I19: several texts of one form stay apart, and of both
// forms only one is taken.
func TestPartsOfAnAlternative_I19(t *testing.T) {
	t.Parallel()
	const plain, page, stub = "text/plain", "text/html", "Your program does not support HTML."
	order, pieces := part(plain, "Order 12"), part(plain, "34 pieces")
	orderPage, piecesPage := part(page, "Order 12"), part(page, "34 pieces")
	tests := map[string]struct{ mail, text, hidden string }{
		"two plain":           {multi("alternative", "a", multi("mixed", "b", order, pieces), orderPage), "Order 12\n\n34 pieces", ""},
		"two plain, no mixed": {multi("alternative", "a", order, pieces, orderPage), "Order 12\n\n34 pieces", ""},
		"two pages":           {multi("alternative", "a", part(plain, stub), multi("mixed", "b", orderPage, part("image/png", "x"), piecesPage)), "Order 12\n\n34 pieces", ""},
		"two pages, related":  {multi("alternative", "a", multi("related", "b", orderPage, part("image/png", "x")), multi("mixed", "c", piecesPage)), "Order 12\n\n34 pieces", ""},
		"two of both":         {multi("alternative", "a", multi("mixed", "b", order, pieces), multi("mixed", "c", orderPage, piecesPage)), "Order 12\n\n34 pieces", ""},
		"inside of mixed":     {multi("mixed", "m", multi("alternative", "a", multi("mixed", "b", order, pieces), orderPage), part(plain, "A list.")), "Order 12\n\n34 pieces\n\nA list.", ""},
		"inside of related":   {multi("related", "r", multi("alternative", "a", order, multi("mixed", "b", orderPage, piecesPage)), part("image/png", "x")), "Order 12", ""},
		"two alternatives":    {multi("mixed", "m", multi("alternative", "a", order, orderPage), multi("alternative", "b", pieces, piecesPage)), "Order 12\n\n34 pieces", ""},
		"an empty one":        {multi("alternative", "a", multi("mixed", "b", part(plain, " "), pieces), piecesPage), "34 pieces", ""},
		"an open element":     {multi("alternative", "a", multi("mixed", "b", part(page, "<p>Order 12<div style='display:none'>x"), piecesPage)), "Order 12\n\n34 pieces", "x"},
		"an open comment":     {multi("alternative", "a", multi("mixed", "b", part(page, "Order 12<!-- "), piecesPage)), "Order 12\n\n34 pieces", ""},
	}
	for name, test := range tests {
		mail := parseWith(t, "From: ana@example.org\r\n"+test.mail, mime.Options{})
		if mail.Text != test.text || mail.Hidden != test.hidden || mail.Parse != schemas.ParseOK {
			t.Errorf("%s: got %q, hidden %q, %q", name, mail.Text, mail.Hidden, mail.Problems)
		}
	}
}

// TestMissingBlankLine_I15: a part whose header is not ended by a blank line keeps
// what it says, and a line that is no field stays one that is left out.
func TestMissingBlankLine_I15(t *testing.T) {
	t.Parallel()
	file := func(lines ...string) []string {
		return append([]string{"Content-Type: application/pdf; name=a.pdf", "Content-Transfer-Encoding: base64"}, lines...)
	}
	tests := map[string]struct {
		lines         []string
		content, text string
	}{
		"one line":                {file("SGVsbG8="), "Hello", ""},
		"one line, then an empty": {file("SGVsbG8=", ""), "Hello", ""},
		"two lines":               {file("SGVs", "bG8=", ""), "Hello", ""},
		"noise, then base64":      {file("this is noise", "", "SGVsbG8="), "Hello", ""},
		"noise with a colon":      {file("Sübject: y", "", "SGVsbG8="), "Hello", ""},
		"as it should be":         {file("", "SGVsbG8="), "Hello", ""},
		"looks like a field":      {[]string{"Content-Type: image/png; name=a.txt", "Note: call me", "at nine"}, "Note: call me\r\nat nine", ""},
		"looks like fields":       {[]string{"Content-Type: image/png; name=a.txt", "Note: call me", "When: at nine"}, "Note: call me\r\nWhen: at nine", ""},
		"nothing but a field":     {[]string{"Note: call me"}, "", "Note: call me"},
		"words":                   {[]string{"Content-Type: text/plain", "Hello Ana,", "", "call me."}, "", "Hello Ana,\n\ncall me."},
		"words, then a field":     {[]string{"Content-Type: text/plain", "Hello Ana,", "Note: call me."}, "", "Hello Ana,\nNote: call me."},
		"fields of other names":   {[]string{"Content-Type: image/png; name=a.txt", "Received: x", "Importance: high", "", "Hello"}, "Hello", ""},
		"noise between fields":    {[]string{"Content-Type: text/plain", "this is noise", "Content-Language: de", "", "Hello"}, "", "Hello"},
	}
	for name, test := range tests {
		for _, newline := range []string{"\r\n", "\n"} {
			lines := append([]string{"From: ana@example.org", "Content-Type: multipart/mixed; boundary=b", "", "--b"}, test.lines...)
			mail, sink := parse(t, strings.Join(append(lines, "--b--", ""), newline))
			content := ""
			if len(mail.Attachments) > 0 {
				content = string(sink[mail.Attachments[0].Artifact.SHA256])
			}
			if content != strings.ReplaceAll(test.content, "\r\n", newline) || mail.Text != test.text || len(mail.Attachments) > 1 {
				t.Errorf("%s %q: got %q and %q in %d attachments, %q", name, newline, content, mail.Text, len(mail.Attachments), mail.Problems)
			}
			if whole := name == "as it should be" || name == "fields of other names"; (mail.Parse == schemas.ParseOK) != whole {
				t.Errorf("%s: %s, %q", name, mail.Parse, mail.Problems)
			}
		}
	}
	for body, text := range map[string]string{
		"Hello Ana,\n\ncall me.\n":                                "Hello Ana,\n\ncall me.",
		"Hallo, bitte ein Angebot.\nMenge: 17\nGruß\n":            "Hallo, bitte ein Angebot.\nMenge: 17\nGruß",
		"Menge: 17\nFarbe: blau\n  oder rot\nGruß\n":              "Menge: 17\nFarbe: blau\n  oder rot\nGruß",
		"Menge: 17\nFarbe: blau\n":                                "Menge: 17\nFarbe: blau",
		"Menge: 17\nGruß\n\nNora\n":                               "Menge: 17\nGruß\n\nNora",
		"Größe: 17\n\nGruß\n":                                     "Größe: 17\n\nGruß",
		"Please ship.\nT-Shirts: 17\nE-Mail: n@example.org\n":     "Please ship.\nT-Shirts: 17\nE-Mail: n@example.org",
		"Please move it.\nFrom: Berlin\nSubject: a piano\nThanks": "Please move it.\nFrom: Berlin\nSubject: a piano\nThanks",
		"Content-Type: multipart/mixed; boundary=b\n--b\nContent-Type: text/plain\n\nHello\n--b--\n": "Hello",
	} {
		mail, _ := parse(t, "From: ana@example.org\nX-Mailer: x\nSubject: s\n"+body)
		if mail.Text != text || mail.Subject != "s" || mail.Parse != schemas.ParseDegraded {
			t.Errorf("%q: got %q, %q", body, mail.Text, mail.Problems)
		}
	}
	for name, raw := range map[string]string{
		"noise":           "From: ana@example.org\nnoise\nSubject: s\nMenge: 17\n\nHello",
		"several":         "From: ana@example.org\nX-Report: a\nscore=1\ntests=NONE\nDate: Mon, 5 Jan 2026 10:00:00 +0100\nSubject: s\n\nHello",
		"fields of names": "From: ana@example.org\nSubject: s\nPosting-Version: 2\nMenge: 17\n\nHello",
	} {
		if mail, _ := parse(t, raw); mail.Text != "Hello" || mail.Subject != "s" {
			t.Errorf("%s: got %q and %q, %q", name, mail.Subject, mail.Text, mail.Problems)
		}
	}
}

// TestEncodedReports_I21: a report is read through any encoding, that of the whole
// multipart included.
func TestEncodedReports_I21(t *testing.T) {
	t.Parallel()
	status := "Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; gone@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n"
	returned := "Message-ID: <reply@podium.example>\r\nReferences: <q1@example.org>\r\n\r\nour answer\r\n"
	encoded := func(text string) string { return "\r\n" + encode(text, 76) + "\r\n" }
	in := func(mediaType, text string) string {
		return "Content-Type: " + mediaType + "\r\nContent-Transfer-Encoding: base64\r\n" + encoded(text)
	}
	parts := crlf("--b", "", "It failed.", "--b", "Content-Type: message/delivery-status", "", status, "--b", "Content-Type: message/rfc822", "", returned, "--b--", "")
	whole := func(encoding, body string) string {
		return crlf("From: MAILER-DAEMON@mx.example", "Content-Type: multipart/report; report-type=delivery-status; boundary=b", "Content-Transfer-Encoding: "+encoding, "", body)
	}
	want := schemas.Bounce{RecipientStatus: schemas.RecipientStatus{Recipient: "gone@example.org", Action: "failed", Status: "5.1.1"}, MessageID: "reply@podium.example"}
	for name, raw := range map[string]string{
		"each part":              report(nil, in("message/delivery-status", status), in("message/rfc822", returned)),
		"without a line between": report(nil, strings.Replace(in("message/delivery-status", status), "\r\n\r\n", "\r\n", 1), in("message/rfc822", returned)),
		"nothing encoded":        report(nil, strings.Replace(in("message/delivery-status", status), encoded(status), "\r\n"+status, 1), in("message/rfc822", returned)),
		"passed on":              crlf("From: postmaster@gateway.example", "Return-Path: <>", "Subject: Undeliverable: x", multi("mixed", "m", part("text/plain", "It failed."), in("message/rfc822", report(nil, in("message/delivery-status", status), in("message/rfc822", returned))))),
		"the whole":              whole("base64", encode(parts, 76)),
		"the whole, quoted":      whole("quoted-printable", strings.ReplaceAll(strings.ReplaceAll(parts, "=", "=3D"), "-", "=2D")),
		"said to be base64":      whole("base64", parts),
		"the whole, inside":      "From: MAILER-DAEMON@mx.example\r\n" + multi("mixed", "m", strings.TrimPrefix(whole("base64", encode(parts, 76)), "From: MAILER-DAEMON@mx.example\r\n"), part("text/plain", "below")),
	} {
		mail := parseWith(t, raw, mime.Options{})
		if mail.Class != schemas.MailBounce || mail.Bounce == nil || !reflect.DeepEqual(*mail.Bounce, want) || mime.PartitionKey(&mail) != "q1@example.org" {
			t.Errorf("%s: %s, %+v, %q", name, mail.Class, mail.Bounce, mail.Problems)
		}
		if text, _, _ := strings.Cut(mail.Text, "\n"); text != "It failed." || strings.HasSuffix(name, "inside") != strings.HasSuffix(mail.Text, "below") {
			t.Errorf("%s: got %q", name, mail.Text)
		}
	}
}

// TestMailWithoutHeader_I20: nothing says who wrote it, and it says so by its signals too.
func TestMailWithoutHeader_I20(t *testing.T) {
	t.Parallel()
	for raw, state := range map[string]schemas.ParseState{"": schemas.ParseFailed, "\r\n\r\n": schemas.ParseFailed, "Hello\r\nAna\r\n": schemas.ParseDegraded} {
		mail := parseWith(t, raw, mime.Options{})
		if mail.Class != schemas.MailUnknown || !slices.Equal(mail.Signals, []string{"no-header"}) || mail.Parse != state || len(mail.Problems) == 0 {
			t.Errorf("%q: %s by %q, %s, %q", raw, mail.Class, mail.Signals, mail.Parse, mail.Problems)
		}
	}
	if mail := parseWith(t, crlf("Subject: x", "", "text"), mime.Options{}); len(mail.Signals) > 0 {
		t.Errorf("a mail with a header has %q", mail.Signals)
	}
}

// TestAttachmentNamesAreKept: the name is no path, and what its author wrote
// is there beside it.
func TestAttachmentNamesAreKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300) + ".txt"
	for written, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `C:\Users\ana\a.txt`: "a.txt", "a/b\\c/d.txt": "d.txt", "/": "", "..": "", "a/..": "", ".": "", ".bashrc": ".bashrc",
		"=?utf-8?Q?..=2F..=2Fx?=": "x", long: long[:255], "x/" + long: long[:255],
	} {
		mail, _ := parse(t, crlf("From: a@b.c", "Content-Type: image/png", `Content-Disposition: attachment; filename="`+strings.ReplaceAll(written, `\`, `\\`)+`"`, "", "x"))
		if written == "=?utf-8?Q?..=2F..=2Fx?=" {
			written = "../../x"
		}
		kept := written
		if want == written {
			kept = ""
		}
		if len(mail.Attachments) != 1 || mail.Attachments[0].Name != want || mail.Attachments[0].Written != kept || (mail.Parse != schemas.ParseOK) != (kept != "") {
			t.Errorf("%q: got %+v, %q", written, mail.Attachments, mail.Problems)
		}
	}
}

// TestFlowedText_I19 reads RFC 3676, with and without DelSp.
func TestFlowedText_I19(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, plain, deleted string }{
		"a paragraph":    {"One \r\ntwo \r\nthree.\r\n\r\nFour.", "One two three.\n\nFour.", "Onetwothree.\n\nFour."},
		"a word":         {"https://example.org/ \r\npath", "https://example.org/ path", "https://example.org/path"},
		"stuffed":        {"  One\r\n From here", " One\nFrom here", " One\nFrom here"},
		"a signature":    {"Yes. \r\n-- \r\nAna\r\nBerlin", "Yes.", "Yes."},
		"fixed lines":    {"a\r\nb", "a\nb", "a\nb"},
		"quoted":         {"> One \r\n> two.\r\nYes", "Yes|> One two.", "Yes|> Onetwo."},
		"quoted deeper":  {">> One \r\n> two \r\n> three.\r\nYes", "Yes|>> One\n> two three.", "Yes|>> One\n> twothree."},
		"Chinese":        {"你好， \r\n谢谢。", "你好， 谢谢。", "你好，谢谢。"},
		"it ends flowed": {"One ", "One", "One"},
	}
	for name, test := range tests {
		for parameters, want := range map[string]string{
			"format=flowed": test.plain, "format=flowed; delsp=yes": test.deleted, "DelSp=Yes; Format=\"Flowed\"": test.deleted, "format=flowed; delsp=no": test.plain,
		} {
			mail := parseWith(t, crlf("From: ana@example.org", "In-Reply-To: <a@example.net>", "Content-Type: text/plain; charset=utf-8; "+parameters, "", test.body), mime.Options{})
			fresh, quoted, _ := strings.Cut(want, "|")
			if tidied := strings.ReplaceAll(fresh, " \n", "\n"); mail.Text != strings.TrimSpace(tidied) || mail.Quoted != quoted || (mail.Signature != "") != (name == "a signature") {
				t.Errorf("%s, %s: got %q, %q and %q", name, parameters, mail.Text, mail.Quoted, mail.Signature)
			}
		}
	}
	for _, contentType := range []string{"text/plain; charset=utf-8", "text/html; format=flowed"} {
		if mail := parseWith(t, crlf("From: ana@example.org", "Content-Type: "+contentType, "", "<pre>One \r\ntwo</pre>"), mime.Options{}); !strings.Contains(mail.Text, "One\ntwo") {
			t.Errorf("%s: got %q", contentType, mail.Text)
		}
	}
}

// TestDates_I15: zones in words and in comments, and dates before 1970.
func TestDates_I15(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		date, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return date.UTC()
	}
	for value, want := range map[string]time.Time{
		"Fri, 30 Jan 2026 10:00:00 -0400":                  at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 (EDT) -0400":            at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 -0400 (EDT)":            at("2026-01-30T10:00:00-04:00"),
		"Fri (a (nested) day), 30 Jan 2026 10:00:00 -0400": at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 EDT -0400":              at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 -0400 EDT":              at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 EDT":                    at("2026-01-30T10:00:00-04:00"),
		"Fri, 30 Jan 2026 10:00:00 PST":                    at("2026-01-30T10:00:00-08:00"),
		"Fri, 30 Jan 2026 10:00:00 UT":                     at("2026-01-30T10:00:00Z"),
		"Fri, 30 Jan 2026 10:00:00 GMT":                    at("2026-01-30T10:00:00Z"),
		"Fri,  30 Jan 2026\t10:00:00 +0100":                at("2026-01-30T10:00:00+01:00"),
		"Wed, 31 Dec 1969 23:59:59 +0000":                  at("1969-12-31T23:59:59Z"),
		"Thu, 1 Jan 1970 00:00:00 +0100":                   at("1969-12-31T23:00:00Z"),
		"Mon, 1 Jan 1900 00:00:00 +0000":                   at("1900-01-01T00:00:00Z"),
		"Sun, 31 Dec 1899 23:00:00 +0000":                  {},
		"Fri, 30 Jan 2026 10:00:00 (EDT":                   at("2026-01-30T10:00:00Z"),
		"yesterday":                                        {},
	} {
		mail := parseWith(t, crlf("From: ana@example.org", "Date: "+value, "", "text"), mime.Options{})
		if !mail.Date.Equal(want) || slices.Contains(mail.Problems, "the Date field is unreadable") != want.IsZero() {
			t.Errorf("%q: got %s, %q", value, mail.Date, mail.Problems)
		}
	}
}

// TestEncodedIDs_I22: ids in encoded words, as programs fold long ones.
func TestEncodedIDs_I22(t *testing.T) {
	t.Parallel()
	word := func(text string) string { return "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	for field, want := range map[string][]string{
		"=?utf-8?Q?=3C1=40x=2Ey=3E?=":                        {"1@x.y"},
		word("<1@x.y>"):                                      {"1@x.y"},
		word("<1@x") + "\r\n " + word(".y>"):                 {"1@x.y"},
		"<1@x.y> " + word("<2@x.y>") + " <3@x.y>":            {"1@x.y", "2@x.y", "3@x.y"},
		word("<1@x.y> <2@x.y>"):                              {"1@x.y", "2@x.y"},
		"<=?utf-8?Q?a?=@x.y>":                                {"=?utf-8?Q?a?=@x.y"},
		word("1@x.y"):                                        {"1@x.y"},
		word("<1@x.y>\x00\r\nBcc: <2@x.y>"):                  {"1@x.y", "2@x.y"},
		"=?utf-8?Q?=3C1=40x=2Ey?=":                           {"1@x.y"},
		"<1@x.y> =?utf-8?Q?no_id?=":                          {"1@x.y"},
		"=?us-ascii?Q?=3C" + strings.Repeat("x", 999) + "?=": nil,
	} {
		mail := parseWith(t, crlf("From: ana@example.org", "Message-ID: <own@x.y>", "References: "+field, "In-Reply-To: "+field, "", "text"), mime.Options{})
		first := ""
		if len(want) > 0 {
			first = want[0]
		}
		if !slices.Equal(mail.References, want) || mail.InReplyTo != first {
			t.Errorf("%q: got %q and %q", field, mail.References, mail.InReplyTo)
		}
	}
	if mail := parseWith(t, crlf("From: ana@example.org", "Message-ID: "+word("<own@x.y>"), "", "text"), mime.Options{}); mail.MessageID != "own@x.y" {
		t.Errorf("got %q", mail.MessageID)
	}
}

// TestDamagedIDs_I22: ids are the same whatever a program has escaped, added or wrapped.
func TestDamagedIDs_I22(t *testing.T) {
	t.Parallel()
	for field, want := range map[string][]string{
		"&lt;r0@x.example&gt; &lt;r1@x.example&gt;":           {"r0@x.example", "r1@x.example"},
		"&LT;r0@x.example&GT;,&lt;r1@x.example&gt;":           {"r0@x.example", "r1@x.example"},
		"&lt; r0@x.example &gt;":                              {"r0@x.example"},
		"&lt;r0@\r\n x.example&gt;":                           {"r0@x.example"},
		"&amp;lt;r0@x.example&amp;gt;":                        {"r0@x.example"},
		"&#60;r0&#64;x.example&#62; &#x3C;r1@x.example&#x3e;": {"r0@x.example", "r1@x.example"},
		"<&lt;r0@x.example&gt;>":                              {"r0@x.example"},
		"%3Cr0%40x.example%3E %3cr1@x.example%3e":             {"r0@x.example", "r1@x.example"},
		"<r0%40x.example>":                                    {"r0@x.example"},
		"mid:r0%40x.example":                                  {"r0@x.example"},
		"<mid:r0@x.example> MID:r1@x.example":                 {"r0@x.example"},
		"message://%3Cr0@x.example%3E":                        {"r0@x.example"},
		"[r0@x.example] [r1@x.example]":                       {"r0@x.example", "r1@x.example"},
		"[<r0@x.example>]":                                    {"r0@x.example"},
		"(r0@x.example)":                                      {"r0@x.example"},
		`"r0@x.example"`:                                      {"r0@x.example"},
		`"<r0@x.example>"`:                                    {"r0@x.example"},
		"\uff1cr0@x.example\uff1e":                            {"r0@x.example"},
		"<<r0@x.example>>":                                    {"r0@x.example"},
		"=3Cr0@x.example=3E =3cr1=40x.example=3e":             {"r0@x.example", "r1@x.example"},
		"=3Cr0@x.ex=\r\n ample=3E":                            {"r0@x.example"},
		"<r0=40x.example>":                                    {"r0@x.example"},
		"<r0@x=2Eexample>":                                    {"r0@x.example"},
		"<r0@x.ex=\r\n ample>":                                {"r0@x.example"},
		"(mail of <r9@x.example>) <r0@x.example> (yesterday)": {"r0@x.example"},
		"(a (b) <r9@x.example>) <r0@x.example>":               {"r0@x.example"},
		"<r0@x.example (yesterday)> <( of) r1@x.example>":     {"r0@x.example", "r1@x.example"},
		`\<r0@x.example\>`:                                    {"r0@x.example"},
		`"<r0@x.example>" \<r1@x.example\>`:                   {"r0@x.example", "r1@x.example"},
		"%3Cr0@x.example%3E [r1@x.example]":                   {"r0@x.example", "r1@x.example"},
		"{r0@x.example} &lt;r1@x.example&gt; [r2@x.example]":  {"r0@x.example", "r1@x.example", "r2@x.example"},
		"<r0@x.example> (not closed <r1@x.example>":           {"r0@x.example", "r1@x.example"},

		"<a(1)b@x.example>":          {"a(1)b@x.example"},
		"<a&lt1@x.example>":          {"a&lt1@x.example"},
		"<r0=40nora@x.example>":      {"r0=40nora@x.example"},
		"<r0%40nora@x.example>":      {"r0%40nora@x.example"},
		"<%3Cr0@x.example>":          {"%3Cr0@x.example"},
		"<abc==\r\n @x.example>":     {"abc==@x.example"},
		"<r0@[192.0.2.1]>":           {"r0@[192.0.2.1]"},
		"r0@[192.0.2.1]":             {"r0@[192.0.2.1]"},
		"&lt;no id&gt;, &lt;all&gt;": {"noid", "all"},
	} {
		mail := parseWith(t, crlf("From: ana@example.org", "Message-ID: "+field, "References: "+field,
			"In-Reply-To: "+field, "", "text"), mime.Options{})
		if !slices.Equal(mail.References, want) || mail.InReplyTo != want[0] || mail.MessageID != want[0] {
			t.Errorf("%q: got %q, %q and %q", field, mail.References, mail.InReplyTo, mail.MessageID)
		}
	}
	status := crlf("Content-Type: message/delivery-status", "", "X-Original-Message-ID: &lt;o1@podium.example&gt;",
		"", "Final-Recipient: rfc822; a@b.example", "Action: failed")
	if mail := parseWith(t, report(nil, status), mime.Options{}); mail.Bounce.MessageID != "o1@podium.example" {
		t.Errorf("a report names %q", mail.Bounce.MessageID)
	}
}

// TestAddressesAreNoIDs_I22: an address in the place of an id makes no conversation of strangers: one of the
// mail, one of ours, and one without angle brackets and digits.
func TestAddressesAreNoIDs_I22(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"desk@desk.example":                         "",
		"<desk@desk.example>":                       "",
		"<Desk@DESK.example.>":                      "",
		"<desk+17@desk.example>":                    "",
		"Desk <desk@desk.example>":                  "",
		"<nora@shop.example>":                       "",
		"<copy@shop.example>":                       "",
		"<sent17@shop.example>":                     "",
		"<box1@provider.example>":                   "",
		"<info@desk.example>":                       "", // of ours, and not in the mail
		"nora@elsewhere.example":                    "",
		"Your message of Monday, Nora, nora@x":      "",
		`"Boss" <boss@elsewhere.example>`:           "",
		"Nora of the shop <nora@elsewhere.example>": "",
		"<mailto:boss17@elsewhere.example>":         "",
		"desk@desk.example <q1@desk.example>":       "q1@desk.example",
		"<desk@desk.example> <q1@desk.example>":     "q1@desk.example",
		"Message from Ana <ana@elsewhere.example> of Monday <q1@desk.example>": "q1@desk.example",
		"q1@desk.example":      "q1@desk.example",
		"<reply@desk.example>": "reply@desk.example",
	} {
		mail := parseWith(t, crlf("Sender: <sent17@shop.example>", "Delivered-To: box1@provider.example",
			"From: Nora <nora@shop.example>", "To: Desk <desk@desk.example>",
			"Cc: copy@shop.example", "Message-ID: <m1@shop.example>", "In-Reply-To: "+field, "", "Hello"),
			mime.Options{Mailboxes: []string{"info@desk.example"}})
		if key := mime.PartitionKey(&mail); mail.InReplyTo != want || key != cmp.Or(want, "m1@shop.example") {
			t.Errorf("In-Reply-To %q: got %q, of %q", field, mail.InReplyTo, key)
		}
		mail = parseWith(t, crlf("Sender: <sent17@shop.example>", "Delivered-To: box1@provider.example",
			"From: Nora <nora@shop.example>", "To: Desk <desk@desk.example>",
			"Cc: copy@shop.example", "Message-ID: <desk@desk.example>", "References: "+field, "", "Hello"),
			mime.Options{Mailboxes: []string{"info@desk.example"}})
		if slices.Contains(mail.References, want) != (want != "") || mail.MessageID != "" {
			t.Errorf("References %q: got %q, Message-ID %q", field, mail.References, mail.MessageID)
		}
	}
}

// TestLongSubjectsAreMarked_I15: what is cut is said.
func TestLongSubjectsAreMarked_I15(t *testing.T) {
	t.Parallel()
	const said = "a subject or a name is too long; the rest of it was left out"
	for length, marked := range map[int]bool{998: false, 999: true, 5000: true, 50_000: true} {
		text := strings.Repeat("x", length)
		for _, field := range []string{"Subject: " + text, "Subject: =?utf-8?Q?" + text + "?=", "From: \"" + text + "\" <ana@example.org>"} {
			mail := parseWith(t, crlf("To: b@example.org", field, "", "text"), mime.Options{})
			if slices.Contains(mail.Problems, said) != marked || len(mail.Subject) > 998 || mail.Subject != "" && len(mail.Subject) != 998 && length < 50_000 {
				t.Errorf("%d of %.30q: %d bytes, %q", length, field, len(mail.Subject), mail.Problems)
			}
		}
	}
}
