package mime_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A secondView is what the standard library makes of a mail that it understands
// without a complaint.
type secondView struct {
	subject, from string
	date          time.Time
	leaves        []string // the decoded bytes of every part that is no multipart
}

var errNotUnderstood = errors.New("the standard library does not understand it")

// view reads a mail with the standard library only.
func view(raw []byte) (secondView, error) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return secondView{}, err
	}
	var seen secondView
	if seen.subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil || !utf8.ValidString(seen.subject) {
		return seen, errNotUnderstood
	}
	if from, err := message.Header.AddressList("From"); err == nil && len(from) > 0 {
		seen.from = from[0].Address
	}
	if message.Header.Get("Date") != "" {
		if seen.date, err = message.Header.Date(); err != nil {
			return seen, err
		}
	}
	err = seen.walk(message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body)
	return seen, err
}

func (s *secondView) walk(contentType, encoding string, body io.Reader) error {
	mediaType, parameters := "text/plain", map[string]string(nil)
	if contentType != "" {
		var err error
		if mediaType, parameters, err = mime.ParseMediaType(contentType); err != nil {
			return err
		}
	}
	if strings.HasPrefix(mediaType, "multipart/") {
		if encoded := strings.EqualFold(encoding, "base64") || strings.EqualFold(encoding, "quoted-printable"); encoded || mediaType == "multipart/digest" || parameters["boundary"] == "" {
			return errNotUnderstood
		}
		reader := multipart.NewReader(body, parameters["boundary"])
		for {
			part, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err = s.walk(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(encoding) {
	case "", "7bit", "8bit", "binary":
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	default:
		return errNotUnderstood
	}
	content, err := io.ReadAll(body)
	s.leaves = append(s.leaves, string(content))
	return err
}

// TestAgreesWithTheStandardLibrary_I15: of a mail that the standard library
// understands as well, both say the same: subject, author, date, how many parts
// it has, and every byte of every attachment.
func TestAgreesWithTheStandardLibrary_I15(t *testing.T) {
	t.Parallel()
	compared := 0
	compare := func(name string, raw []byte) {
		want, err := view(raw)
		if err != nil {
			return
		}
		compared++
		got, sink := parse(t, string(raw))
		if subject := strings.Join(strings.Fields(want.subject), " "); got.Subject != subject && !strings.Contains(subject, "\ufffd") {
			t.Errorf("%s: subject %q, want %q", name, got.Subject, subject)
		}
		if want.from != "" && (len(got.From) == 0 || got.From[0].Address != want.from) {
			t.Errorf("%s: from %q, want %q", name, got.From, want.from)
		}
		if !want.date.IsZero() && !got.Date.Equal(want.date) {
			t.Errorf("%s: date %s, want %s", name, got.Date, want.date)
		}
		if len(got.Attachments) > len(want.leaves) {
			t.Errorf("%s: %d attachments out of %d parts", name, len(got.Attachments), len(want.leaves))
		}
		for _, attachment := range got.Attachments {
			content := string(sink[attachment.Artifact.SHA256])
			if !slices.ContainsFunc(want.leaves, func(leaf string) bool { return unixLines(leaf) == unixLines(content) }) {
				t.Errorf("%s: attachment %q has other bytes (%d)", name, attachment.Name, len(content))
			}
		}
	}
	for _, folder := range []string{outsideMails(t), "testdata"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".raw" && filepath.Ext(path) != ".eml" {
				return err
			}
			raw, err := os.ReadFile(path)
			compare(filepath.Base(path), raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("compared: %d", compared)
	if compared < 70 {
		t.Errorf("only %d mails were compared", compared)
	}
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
