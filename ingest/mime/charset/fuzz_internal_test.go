package charset

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"

	"podium/ingest/mime/defect"
)

func valid(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
	}
}

// FuzzCharacters proves that damage is one character each, and that nothing else changes.
func FuzzCharacters(f *testing.F) {
	for _, seed := range []string{"Gr\xc3\xbc\xff\xc3\x9fe", "\xe2\x82", "\xed\xa0\x80\xc3\xbc", "\xf0\x9f\x98\x80\xf0\x9f", "\xc0\xaf", "\x1b$B\xff", "\xf4\x90\x80\x80", "+APw-", "+2D0-", "+", "a+-b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, label := range []string{"", "utf-8", "us-ascii", "utf-7", "iso-2022-jp", "windows-1252", "x-unknown"} {
			valid(t, ToUTF8(data, label, &defect.List{}))
		}
		valid(t, decodeUTF7(data))
		text, _ := RepairUTF8(data)
		if hasISO2022JPEscape(data) {
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
