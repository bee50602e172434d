package structure

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"podium/ingest/mime/defect"
	"podium/ingest/mime/text"
	"podium/ingest/mime/transfer"
	"podium/schemas"
)

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
		h := readHeader(lines, DefaultLimits(), &defect.List{})
		size := 0
		for _, one := range h {
			if one.Name == "" || one.Name != strings.ToLower(one.Name) || strings.ContainsAny(one.Value, "\n") {
				t.Fatalf("field %q: %q", one.Name, one.Value)
			}
			size += len(one.Name) + len(one.Value)
		}
		rest, err := io.ReadAll(lines.body())
		if err != nil || size+len(rest) > len(raw) {
			t.Fatalf("%d bytes of fields and %d of body out of %d (%v)", size, len(rest), len(raw), err)
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
			w := &walker{Message: Message{languages: text.DefaultLanguages(), defects: &defect.List{}}, sink: measuringSink{}, limits: DefaultLimits(), lines: newLineReader(bytes.NewReader(raw)), budget: 1 << 10, allowance: fullAllowance()}
			if err := w.attachment(t.Context(), bytes.NewReader(raw), &attachmentPart{mediaType: kind}); err != nil {
				t.Fatal(err)
			}
			attachment := w.Attachments[0]
			if len(attachment.Entries) > maxEntries || len(w.Calendar) > 20 || len(attachment.Messages) > 100 {
				t.Fatalf("a bound was passed: %d, %d, %d", len(attachment.Entries), len(w.Calendar), len(attachment.Messages))
			}
			body, err := schemas.Marshal(attachment)
			if err != nil || !utf8.Valid(body) {
				t.Fatalf("it cannot be written: %v", err)
			}
		}
		if _, err := io.Copy(io.Discard, transfer.NewReader("x-uuencode", bytes.NewReader(raw), &defect.List{})); err != nil {
			t.Fatal(err)
		}
	})
}
