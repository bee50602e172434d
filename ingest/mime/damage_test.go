package mime_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

const misfit = "characters do not fit the declared character set"

// TestDamagedCharacters_I18: one bad byte costs one character and not the text,
// in bodies, names and file names, and is said.
func TestDamagedCharacters_I18(t *testing.T) {
	t.Parallel()
	const pangram = "Grüße aus Köln, schöne Häuser – “Straße” 5 € 😀"
	tests := map[string]struct{ damaged, want string }{
		"a byte of none":        {"Grüße \xff aus Köln", "Grüße � aus Köln"},
		"a byte of windows":     {"Grüße aus K\xf6ln, schöne Häuser", "Grüße aus K�ln, schöne Häuser"},
		"a lead alone":          {"Grüße \xc3 aus Köln", "Grüße � aus Köln"},
		"a trail alone":         {"Grüße \xa4 aus Köln", "Grüße � aus Köln"},
		"two of three":          {"Grüße, 5 \xe2\x82 bar", "Grüße, 5 � bar"},
		"three of four":         {"Grüße \xf0\x9f\x98!", "Grüße �!"},
		"a surrogate":           {"Grüße \xed\xa0\x80 aus Köln, Straße", "Grüße ��� aus Köln, Straße"},
		"too long a form":       {"Grüße \xc0\xaf aus Köln", "Grüße �� aus Köln"},
		"beyond the last":       {"Grüße \xf4\x90\x80\x80 aus Köln, fünf Häuser", "Grüße ���� aus Köln, fünf Häuser"},
		"a lead before another": {"Grüße \xe2\xc3\xbc Köln", "Grüße �ü Köln"},
		"cut at the end":        {"Grüße aus K\xc3", "Grüße aus K�"},
		"cut, and nothing else": {"5 \xe2\x82", "5 �"},
		"one of many":           {strings.Repeat(pangram+" ", 200) + "\xfc", strings.Repeat(pangram+" ", 200) + "�"},
	}
	for name, test := range tests {
		for _, label := range []string{"", "; charset=utf-8", "; charset=us-ascii", "; charset=x-klingon"} {
			mail := parseWith(t, crlf("From: ana@example.org", "Content-Type: text/plain"+label, "", test.damaged), mime.Options{})
			if mail.Text != test.want || mail.Parse != schemas.ParseDegraded || label != "; charset=x-klingon" && !slices.Contains(mail.Problems, misfit) {
				t.Errorf("%s%s: got %.200q, %q", name, label, mail.Text, mail.Problems)
			}
		}
		if len(test.damaged) > 200 {
			continue
		}
		word := base64.StdEncoding.EncodeToString([]byte(test.damaged))
		fields := map[string]func(*schemas.EmailReceived) string{
			"Subject: " + test.damaged:                                                   func(m *schemas.EmailReceived) string { return m.Subject },
			"Subject: =?utf-8?B?" + word + "?=":                                          func(m *schemas.EmailReceived) string { return m.Subject },
			"To: \"" + test.damaged + "\" <b@c.d>":                                       func(m *schemas.EmailReceived) string { return m.To[0].Name },
			"To: =?utf-8?B?" + word + "?= <b@c.d>":                                       func(m *schemas.EmailReceived) string { return m.To[0].Name },
			"Content-Disposition: attachment; filename=\"" + test.damaged + "\"":         func(m *schemas.EmailReceived) string { return m.Attachments[0].Name },
			"Content-Disposition: attachment; filename=\"=?utf-8?B?" + word + "?=\"":     func(m *schemas.EmailReceived) string { return m.Attachments[0].Name },
			"Content-Disposition: attachment; filename*=utf-8''" + percent(test.damaged): func(m *schemas.EmailReceived) string { return m.Attachments[0].Name },
		}
		for field, get := range fields {
			mail := parseWith(t, crlf("From: ana@example.org", field, "", "text"), mime.Options{})
			if got := get(&mail); got != test.want || !slices.Contains(mail.Problems, misfit) {
				t.Errorf("%s, %q: got %q, %q", name, field, got, mail.Problems)
			}
		}
	}
}

// TestCutTextStaysWhole_I18: a text that is cut at its limit is cut between characters.
func TestCutTextStaysWhole_I18(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("😀", 300<<10/2)
		mail := parseWith(t, crlf("From: ana@example.org", "Content-Type: text/plain; charset=utf-8", "", text), mime.Options{})
		if !strings.HasPrefix(text, mail.Text) || len(mail.Text) < 256<<10-4 || !slices.Equal(mail.Problems, []string{"the text is too long; the rest was left out"}) {
			t.Errorf("shifted by %d: %d bytes, …%q, %q", shift, len(mail.Text), mail.Text[len(mail.Text)-8:], mail.Problems)
		}
	}
}

// percent writes every byte of a text as RFC 2231 has it.
func percent(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(string([]byte{'%', digits[text[i]>>4], digits[text[i]&15]}))
	}
	return out.String()
}

// TestOtherSetsAreStillGuessed_I18: text that is hardly UTF-8 is not taken for it.
func TestOtherSetsAreStillGuessed_I18(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Gr\xfc\xdfe":                            "Grüße",
		"caf\xe9 \x80 5":                         "café € 5",
		"\xc3\x84rger, \xdcbung, \xd6l, Gr\xfcn": "Ã„rger, Übung, Öl, Grün",
		"\x00\x01\x02\xff\xfe":                   "ÿþ",
	} {
		for _, label := range []string{"", "; charset=utf-8", "; charset=us-ascii"} {
			mail := parseWith(t, crlf("From: ana@example.org", "Content-Type: text/plain"+label, "", raw), mime.Options{})
			if mail.Text != want {
				t.Errorf("%q%s: got %q", raw, label, mail.Text)
			}
		}
	}
}

// TestOctetsInEncodedWords_I18: raw octets in an encoded word are decoded once.
func TestOctetsInEncodedWords_I18(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"=?iso-8859-1?Q?J\xfcrgen?=": "Jürgen", "=?iso-8859-1?Q?J\xfcrgen_M=FCller?=": "Jürgen Müller",
		"=?utf-8?Q?J\xc3\xbcrgen?=": "Jürgen", "=?koi8-r?Q?\xf0\xd2\xc9\xd7\xc5\xd4?=": "Привет", "=?windows-1252?q?\x80?=": "€",
	} {
		for _, field := range []string{"From: " + word + " <b@c.d>", "From: \"" + word + "\" <b@c.d>", "From: b@c.d (" + word + ")"} {
			mail := parseWith(t, crlf(field, "", "text"), mime.Options{})
			if len(mail.From) != 1 || mail.From[0] != (schemas.Address{Name: want, Address: "b@c.d"}) || mail.Parse != schemas.ParseOK {
				t.Errorf("%q: got %q, %q", field, mail.From, mail.Problems)
			}
		}
	}
}

// TestUTF7_I18 decodes RFC 2152 and what it forbids.
func TestUTF7_I18(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want    string
		damaged bool
	}{
		"Hi Mom -+Jjo--!":                  {"Hi Mom -☺-!", false},
		"A+ImIDkQ.":                        {"A≢Α.", false},
		"+ZeVnLIqe":                        {"日本語", false},
		"1 +- 1 = 2":                       {"1 + 1 = 2", false},
		"Gr+APwA3w-e":                      {"Grüße", false},
		"+2D3eAA-":                         {"😀", false},
		"plain":                            {"plain", false},
		"+2D0-!":                           {"�!", true},
		"+3gA-!":                           {"�!", true},
		"+APwA-!":                          {"ü�!", true},
		"a + b":                            {"a � b", true},
		"Gr+APwA3w-e aus K+APY-ln \xff":    {"Grüße aus Köln �", true},
		"Gr\xc3\xbc\xc3\x9fe, K\xc3\xb6ln": {"Grüße, Köln", true}, // it never was UTF-7
	}
	for raw, test := range tests {
		for _, label := range []string{"utf-7", "UNICODE-1-1-UTF-7"} {
			mail := parseWith(t, crlf("From: ana@example.org", "Content-Type: text/plain; charset="+label, "", raw), mime.Options{})
			if mail.Text != test.want || slices.Contains(mail.Problems, misfit) != test.damaged {
				t.Errorf("%q: got %q, %q", raw, mail.Text, mail.Problems)
			}
		}
	}
	mail := parseWith(t, crlf("From: ana@example.org", "Subject: =?utf-7?Q?Gr+APwA3w-e?=", "Content-Type: text/plain; charset=utf-8", "", "+APw-"), mime.Options{})
	if mail.Subject != "Grüße" || mail.Text != "+APw-" {
		t.Errorf("got %q and %q", mail.Subject, mail.Text)
	}
}

// encode writes base64 in lines of a width.
func encode(text string, width int) string {
	all := base64.StdEncoding.EncodeToString([]byte(text))
	var lines []string
	for len(all) > width {
		lines, all = append(lines, all[:width]), all[width:]
	}
	return crlf(append(lines, all)...)
}

// TestWordsBelowBase64_I18: what stands behind the end of base64 becomes no
// garbage; more base64 is read.
func TestWordsBelowBase64_I18(t *testing.T) {
	t.Parallel()
	const footer = "_______________________________________________\r\nTalk mailing list\r\ntalk@lists.example\r\nhttps://lists.example/talk\r\n"
	long := strings.Repeat("Hello Ana, the meeting is on Monday. ", 10)
	for padding, text := range map[string]string{"none": long + "So", "one": long + "S", "two": long + "See"} {
		if want := map[string]int{"none": 0, "one": 1, "two": 2}[padding]; strings.Count(encode(text, 1000), "=") != want {
			t.Fatalf("%s: the text has another padding", padding)
		}
		for name, test := range map[string]struct {
			below, want string
			left        bool
		}{
			"nothing":              {"", "", false},
			"empty lines":          {"\r\n \r\n\t\r\n", "", false},
			"a footer":             {footer, "", true},
			"behind an empty line": {"\r\n" + footer, "", true},
			"a word":               {"Regards", "", true},
			"a sentence":           {"You are on this list.", "", true},
			"a signature":          {"-- \r\nAna\r\n", "", true},
			"a rule":               {"==========\r\nYou are on this list.\r\n", "", true},
			"in German":            {"Abmelden können Sie sich hier.", "", true},
			"other base64":         {encode(footer, 76), strings.TrimSpace(footer), false},
			"other base64, twice":  {encode("one!", 76) + "\r\n" + encode("two!", 76), "one!two!", false},
			"base64, then words":   {encode("more?", 76) + "\r\n" + footer, "more?", true},
		} {
			for _, width := range []int{60, 64, 72, 76, 1000} {
				if width == 1000 && padding == "none" && test.left {
					continue // there is nothing that tells where the data end but that they become words
				}
				raw := crlf("From: ana@example.org", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "", encode(text, width), test.below, "")
				mail := parseWith(t, raw, mime.Options{})
				if want := strings.ReplaceAll(text+test.want, "\r\n", "\n"); mail.Text != strings.TrimSpace(want) || slices.Contains(mail.Problems, "words below base64 data were left out") != test.left {
					t.Errorf("%s, padding %s, width %d: got …%.200q, %q", name, padding, width, strings.TrimPrefix(mail.Text, long), mail.Problems)
				}
			}
		}
	}
}

// TestWordsBelowAttachments_I18: the bytes of a file are its own.
func TestWordsBelowAttachments_I18(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("\x89PNG\r\n\x1a\n\x00\x01\x02\x03", 5000)
	for width := range 40 {
		width = 4 + 4*width
		raw := crlf("From: ana@example.org", "Content-Type: image/png; name=a.png", "Content-Transfer-Encoding: base64", "", encode(content, width), "", "Scanned by a gateway, see https://gateway.example/", "")
		mail, sink := parse(t, raw)
		if got := string(sink[mail.Attachments[0].Artifact.SHA256]); got != content {
			t.Errorf("width %d: %d bytes, want %d, %q", width, len(got), len(content), mail.Problems)
		}
	}
	for _, lines := range []string{encode(content, 75), encode(content, 1<<30), strings.ReplaceAll(encode(content, 8), "\r\n", " "), strings.NewReplacer("+", "-", "/", "_").Replace(encode(content, 76))} {
		mail, sink := parse(t, crlf("From: ana@example.org", "Content-Type: image/png; name=a.png", "Content-Transfer-Encoding: base64", "", lines, ""))
		if got := string(sink[mail.Attachments[0].Artifact.SHA256]); got != content || mail.Parse != schemas.ParseOK {
			t.Errorf("%.100q: %d bytes, want %d, %q", lines, len(got), len(content), mail.Problems)
		}
	}
}
