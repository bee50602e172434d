package mime_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/mail"
	"pgregory.net/rapid"

	"podium/ingest/mime"
	"podium/schemas"
)

// signature is a line that begins a signature, which is no part of the words.
var signature = regexp.MustCompile(`(?m)^--\s*$`)

// TestRoundTrip reads back what another library wrote: any subject, names, text
// and attachments in any transfer encoding.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-zäöüß€日本 ,"<>@=?_\.]{0,60}`)
		subject, name := oneLine(words.Draw(t, "subject")), oneLine(words.Draw(t, "name"))
		text := rapid.StringMatching(`([a-zA-ZäöüßÄ€日 =\.,-]{1,80}\r\n){1,5}[a-z]{1,5}`).
			Filter(func(text string) bool { return !signature.MatchString(text) }).Draw(t, "text")
		files := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 500), 0, 4).Draw(t, "files")
		encoding := rapid.SampledFrom([]string{"base64", "quoted-printable"}).Draw(t, "encoding")

		var raw bytes.Buffer
		write(t, &raw, subject, name, text, encoding, files)
		sink := kept{}
		got, err := mime.Parse(ctx, bytes.NewReader(raw.Bytes()), mime.Options{Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		if got.Parse != schemas.ParseOK {
			t.Fatalf("%s %v:\n%s", got.Parse, got.Problems, raw.String())
		}
		if got.Subject != subject || len(got.From) != 1 || got.From[0].Name != name {
			t.Fatalf("subject %q, want %q; from %q, want %q\n%s", got.Subject, subject, got.From, name, raw.String())
		}
		// The first of several lines keeps its blanks, which say how far it is indented.
		if want := trimLines(text); strings.TrimSpace(got.Text) != want {
			t.Fatalf("text %q, want %q", got.Text, want)
		}
		if len(got.Attachments) != len(files) {
			t.Fatalf("%d attachments, want %d", len(got.Attachments), len(files))
		}
		for i, file := range files {
			if !bytes.Equal(sink[got.Attachments[i].Artifact.SHA256], file) || got.Attachments[i].Name != "Röntgen.bin" {
				t.Fatalf("attachment %d differs: %+v", i, got.Attachments[i])
			}
		}
	})
}

func write(t *rapid.T, raw io.Writer, subject, name, text, encoding string, files [][]byte) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var h mail.Header
	h.SetSubject(subject)
	h.SetAddressList("From", []*mail.Address{{Name: name, Address: "a@b.c"}})
	w, err := mail.CreateWriter(raw, h)
	must(err)
	var inline mail.InlineHeader
	inline.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
	inline.Set("Content-Transfer-Encoding", encoding)
	part, err := w.CreateSingleInline(inline)
	must(err)
	_, err = io.WriteString(part, text)
	must(err)
	must(part.Close())
	for _, file := range files {
		var attachment mail.AttachmentHeader
		attachment.Header = message.Header{}
		attachment.SetContentType("application/octet-stream", nil)
		attachment.Set("Content-Transfer-Encoding", "base64")
		attachment.SetFilename("Röntgen.bin")
		part, err := w.CreateAttachment(attachment)
		must(err)
		_, err = part.Write(file)
		must(err)
		must(part.Close())
	}
	must(w.Close())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func trimLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	text = strings.Join(lines, "\n")
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text)
}
