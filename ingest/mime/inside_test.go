package mime_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/ingest/mime/structure"
	"podium/schemas"
)

// zipped returns an archive of empty files of some names, each said to be large.
func zipped(tb testing.TB, names ...string) string {
	tb.Helper()
	var out bytes.Buffer
	writer := zip.NewWriter(&out)
	for _, name := range names {
		file, err := writer.Create(name)
		if err == nil {
			_, err = io.Copy(file, repeated("0", 1<<12))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

func attached(mediaType, content string) string {
	return crlf("From: a@b.c", "Content-Type: multipart/mixed; boundary=b", "", "--b", "", "words", "--b",
		"Content-Type: "+mediaType, "Content-Transfer-Encoding: base64", "", base64.StdEncoding.EncodeToString([]byte(content)), "--b--")
}

// TestArchivesAreListedAndNeverUnpacked_I17: names and sizes are data, and what
// an archive holds is not looked into.
func TestArchivesAreListedAndNeverUnpacked_I17(t *testing.T) {
	t.Parallel()
	archive := zipped(t, "../../etc/passwd", "b\u202efdp.exe")
	mail := parseWith(t, attached("application/zip; name=a.zip", archive), mime.Options{})
	want := []schemas.ArchiveEntry{{Name: "../../etc/passwd", Size: 1 << 12}, {Name: "bfdp.exe", Size: 1 << 12}}
	if len(mail.Attachments) != 1 || !reflect.DeepEqual(mail.Attachments[0].Entries, want) || mail.Attachments[0].Sniffed != "application/zip" {
		t.Fatalf("got %+v", mail.Attachments)
	}
	if size := mail.Attachments[0].Artifact.Size; size != int64(len(archive)) {
		t.Errorf("the attachment has %d bytes, want %d", size, len(archive))
	}
	encrypted := []byte(archive)
	directory := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[directory+8] |= 1
	mail = parseWith(t, attached("application/zip", string(encrypted)), mime.Options{})
	if entries := mail.Attachments[0].Entries; len(entries) != 2 || !entries[0].Encrypted || entries[1].Encrypted {
		t.Errorf("the password is not seen: %+v", entries)
	}
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf("%d.txt", i)
	}
	mail = parseWith(t, attached("application/zip", zipped(t, names...)), mime.Options{})
	if n := len(mail.Attachments[0].Entries); n != 100 {
		t.Errorf("%d entries are listed", n)
	}
	for name, damaged := range map[string]string{"cut off": archive[:len(archive)-10], "only its beginning": archive[:4], "without directory": "PK\x03\x04" + strings.Repeat("x", 1<<20)} {
		mail = parseWith(t, attached("application/zip", damaged), mime.Options{})
		if len(mail.Attachments) != 1 || mail.Attachments[0].Entries != nil {
			t.Errorf("%s: %+v", name, mail.Attachments)
		}
	}
}

// TestAttachedMails_I17 reads mails inside a mail to a depth of three.
func TestAttachedMails_I17(t *testing.T) {
	t.Parallel()
	inner := "From: d4@x.y\r\nSubject: 4\r\n\r\nfour"
	for depth := 3; depth >= 1; depth-- {
		inner = crlf(fmt.Sprintf("From: d%d@x.y", depth), fmt.Sprintf("Subject: %d", depth), fmt.Sprintf("Message-ID: <%d@x.y>", depth),
			"Content-Type: multipart/mixed; boundary="+strings.Repeat("b", depth+1), "", "--"+strings.Repeat("b", depth+1), "", fmt.Sprintf("text %d", depth),
			"--"+strings.Repeat("b", depth+1), "Content-Type: message/rfc822; name=../"+strconv.Itoa(depth), "", inner, "--"+strings.Repeat("b", depth+1)+"--")
	}
	mail := parseWith(t, crlf("From: a@b.c", "Content-Type: message/rfc822", "", inner), mime.Options{})
	if len(mail.Attachments) != 1 || mail.Text != "" {
		t.Fatalf("got %d attachments, text %q", len(mail.Attachments), mail.Text)
	}
	messages := mail.Attachments[0].Messages
	if len(messages) != 3 {
		t.Fatalf("%d mails were read, want 3: %+v", len(messages), messages)
	}
	for i, one := range messages {
		want := strconv.Itoa(i + 1)
		if one.Depth != i+1 || one.Subject != want || one.Text != "text "+want || one.MessageID != want+"@x.y" || one.From[0].Address != "d"+want+"@x.y" {
			t.Errorf("mail %s: %+v", want, one)
		}
		if len(one.Attachments) != 1 || one.Attachments[0].Name != want || one.Attachments[0].MediaType != "message/rfc822" || one.Attachments[0].Size == 0 {
			t.Errorf("attachments of mail %s: %+v", want, one.Attachments)
		}
	}
	if mail.Class != schemas.MailHuman || mail.MessageID != "" {
		t.Errorf("the mail itself took on what stands in the attached one: %+v", mail)
	}
}

// TestManyAttachedMailsAreBounded_I17: what is read inside attachments is bounded
// for the mail as a whole.
func TestManyAttachedMailsAreBounded_I17(t *testing.T) {
	t.Parallel()
	var raw strings.Builder
	raw.WriteString("From: a@b.c\r\nContent-Type: multipart/digest; boundary=b\r\n\r\n")
	for i := range 500 {
		fmt.Fprintf(&raw, "--b\r\n\r\nSubject: %d\r\n\r\n%s\r\n", i, strings.Repeat("word ", 2000))
	}
	raw.WriteString("--b--")
	mail := parseWith(t, raw.String(), mime.Options{})
	read, text := 0, 0
	for _, attachment := range mail.Attachments {
		for _, message := range attachment.Messages {
			read++
			text += len(message.Text)
		}
	}
	if len(mail.Attachments) != 500 || read == 0 || read > 100 || text > 64<<10 {
		t.Errorf("%d attachments, %d mails read, %d bytes of text", len(mail.Attachments), read, text)
	}
}

// TestWinmailIsMarked_I17: it is passed through as it is.
func TestWinmailIsMarked_I17(t *testing.T) {
	t.Parallel()
	content := "\x78\x9f\x3e\x22\x01\x00"
	for _, mediaType := range []string{"application/ms-tnef; name=winmail.dat", "application/octet-stream; name=WINMAIL.DAT", "application/octet-stream; name=x"} {
		mail := parseWith(t, attached(mediaType, content), mime.Options{})
		if len(mail.Attachments) != 1 || mail.Attachments[0].Sniffed != "application/vnd.ms-tnef" || mail.Parse != schemas.ParseDegraded ||
			mail.Attachments[0].Artifact.Size != int64(len(content)) {
			t.Errorf("%s: %+v %v", mediaType, mail.Attachments, mail.Problems)
		}
	}
}

// TestCalendar_I17 reads invitations.
func TestCalendar_I17(t *testing.T) {
	t.Parallel()
	invitation := crlf("BEGIN:VCALENDAR", "METHOD:request", "BEGIN:VTIMEZONE", "DTSTART:19700101T000000", "UID:zone", "END:VTIMEZONE",
		"BEGIN:VEVENT", "UID:1@x", "SEQUENCE:2", `DTSTART;TZID="Europe/Berlin":20260131T120000`, "DTEND:20260131T130000Z", `SUMMARY;LANGUAGE=de:Gespräch\, kurz\n`,
		" und bündig", "BEGIN:VALARM", "UID:alarm", "END:VALARM", "END:VEVENT",
		"BEGIN:VEVENT", "UID:2@x", "DTSTART;VALUE=DATE:20260201", "DTEND:tomorrow", "SEQUENCE:many", "END:VEVENT", "END:VCALENDAR")
	mail := parseWith(t, attached("text/calendar; method=REQUEST; charset=utf-8", invitation), mime.Options{})
	want := []schemas.CalendarEntry{
		{Method: "REQUEST", UID: "1@x", Sequence: 2, Start: "2026-01-31T12:00:00", End: "2026-01-31T13:00:00Z", Zone: "Europe/Berlin", Summary: "Gespräch, kurz und bündig"},
		{Method: "REQUEST", UID: "2@x", Start: "2026-02-01"},
	}
	if !reflect.DeepEqual(mail.Calendar, want) {
		t.Errorf("got %+v", mail.Calendar)
	}
	if len(mail.Attachments) != 1 {
		t.Errorf("the invitation itself is lost: %+v", mail.Attachments)
	}
	many := []string{"BEGIN:VCALENDAR"}
	for i := range 1000 {
		many = append(many, "BEGIN:VEVENT", "UID:"+strconv.Itoa(i), "END:VEVENT")
	}
	if mail = parseWith(t, attached("text/calendar", crlf(many...)), mime.Options{}); len(mail.Calendar) != 20 {
		t.Errorf("%d entries", len(mail.Calendar))
	}
}

// TestLimits_I17: what is beyond a limit is named and left in the raw mail.
func TestLimits_I17(t *testing.T) {
	t.Parallel()
	limits := structure.DefaultLimits()
	limits.Message = 1000
	mail := parseWith(t, "From: a@b.c\r\n\r\n"+strings.Repeat("word ", 1000), mime.Options{Limits: limits})
	if len(mail.Text) > 1000 || !strings.HasPrefix(mail.Text, "word") || mail.Parse != schemas.ParseDegraded {
		t.Errorf("a mail over its limit: %d bytes of text, %v", len(mail.Text), mail.Problems)
	}
	exact := "From: a@b.c\r\n\r\n" + strings.Repeat("x", 1000-15)
	if mail = parseWith(t, exact, mime.Options{Limits: limits}); mail.Parse != schemas.ParseOK {
		t.Errorf("a mail of exactly its limit: %v", mail.Problems)
	}
	if limits = structure.DefaultLimits(); limits.Message != 50<<20 || limits.Header != 1<<20 || limits.Depth != 32 || limits.Parts != 1000 || limits.Addresses != 1000 {
		t.Errorf("the limits in production: %+v", limits)
	}
	many := strings.Repeat("a@b.c, ", 700)
	mail = parseWith(t, crlf("From: a@b.c", "To: "+many, "Cc: "+many, "", "x"), mime.Options{})
	if n := len(mail.From) + len(mail.To) + len(mail.Cc); n != 1000 || mail.Parse != schemas.ParseDegraded {
		t.Errorf("%d addresses, %v", n, mail.Problems)
	}
	if mail = parseWith(t, crlf(`From: "a, b" <a@b.c>`, `To: "unclosed <a@b.c>, d@e.f`, "", "x"), mime.Options{}); len(mail.From) != 1 || mail.From[0].Name != "a, b" {
		t.Errorf("got %+v", mail.From)
	}
}

// TestSniffedType_I24: what an attachment says it is stands beside what it is.
func TestSniffedType_I24(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"%PDF-1.7": "application/pdf", "\x89PNG\r\n\x1a\n": "image/png", "MZ\x90\x00\x03\x00": "application/vnd.microsoft.portable-executable",
		"MZ is how the word begins": "text/plain", "\x7fELF\x02": "application/x-elf", "plain": "text/plain", "<html><p>": "text/html", "": "",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "application/x-ole-storage", "#!/bin/sh\nrm": "text/x-shellscript", "\x00\x01\x02\x03": "",
	} {
		mail := parseWith(t, attached("application/octet-stream", content), mime.Options{})
		if len(mail.Attachments) != 1 || mail.Attachments[0].Sniffed != want || mail.Attachments[0].MediaType != "application/octet-stream" {
			t.Errorf("%q: %+v, want %q", content, mail.Attachments, want)
		}
	}
}
