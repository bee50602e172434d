package mail

import (
	"bytes"
	"io"
	"maps"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	gomessage "github.com/emersion/go-message/mail"
)

// FuzzLetter proves that whatever a stranger writes into subject, name, ids, words
// and file name, a letter has the header fields of every other one, one recipient,
// lines that every server takes, and its words.
func FuzzLetter(f *testing.F) {
	prefixes := prefixesForTest(f)
	for _, seed := range [][5]string{
		{"Frage zur Größe", "Jörg Müller", "root@example.org", "Grüße\n.\n", "Größe.csv"},
		{"x\r\nBcc: a@b", "y\r\nBcc: a@b", "z\r\nBcc: a@b", "\r\n.\r\nMAIL FROM:<x@y>\r\n", "w\r\nBcc: a@b"},
		{"=?utf-8?q?=0D=0ABcc:_a@b?=", "=?utf-8?q?=0D=0ABcc:_a@b?=", "a@b> <c@d", "\x00\u2028\u0085", "\"; name=x"},
		{strings.Repeat("ä", 2000), strings.Repeat("\" <a@b>, ", 50), strings.Repeat("x", 3000) + "@y", "\xff\xfe", strings.Repeat("ß", 400)},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, subject, name, id, words, file string) {
		words = plainWords(words)
		written := letter{
			from:    &netmail.Address{Name: "Support", Address: "a@praxis.example"},
			to:      []*netmail.Address{{Name: oneLine(name, nameLimit), Address: "joerg@example.org"}},
			cc:      []*netmail.Address{{Name: oneLine(subject, nameLimit), Address: "boss@example.org"}},
			subject: replySubject(subject, prefixes), messageID: "0f6d3f5e-6a1c-5c55-9a3c-4f7b1c9f0a11@praxis.example",
			inReplyTo: "parent@example.org", references: []string{"root@example.org", id, strings.Repeat(id, 2)},
			date: time.Unix(0, 0), text: words, html: htmlOf(words, "en"),
			attachments: []attachment{{name: fileName(file), mediaType: mediaType(file), content: []byte(file)}},
		}
		raw, err := written.write()
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := netmail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"Auto-Submitted", "Cc", "Content-Type", "Date", "From", "In-Reply-To", "Message-Id", "Mime-Version", "References", "Subject", "To"}
		if got := slices.Sorted(maps.Keys(parsed.Header)); !slices.Equal(got, want) {
			t.Fatalf("header fields %q", got)
		}
		for field, recipient := range map[string]string{"To": "joerg@example.org", "Cc": "boss@example.org"} {
			if list, err := parsed.Header.AddressList(field); err != nil || len(list) != 1 || list[0].Address != recipient || len(parsed.Header[field]) != 1 {
				t.Fatalf("%s %v, %v", field, list, err)
			}
		}
		for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
			if len(line) > 998 || bytes.ContainsFunc(line, func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\t' }) {
				t.Fatalf("the line %q", line)
			}
		}
		checkParts(t, raw, words, []byte(file))
	})
}

// checkParts compares the words and the file of a letter with what was written.
func checkParts(t *testing.T, raw []byte, words string, file []byte) {
	t.Helper()
	reader, err := gomessage.CreateReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for {
		part, err := reader.NextPart()
		if err != nil {
			break
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	if len(bodies) != 3 || !bytes.Equal(bodies[2], file) {
		t.Fatalf("%d parts", len(bodies))
	}
	if got := strings.ReplaceAll(string(bodies[0]), "\r\n", "\n"); strings.TrimRight(got, "\n") != strings.TrimRight(words, "\n") {
		t.Errorf("the words %q are read as %q", words, got)
	}
}
