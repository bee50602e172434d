package mailparse_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"podium/ingest/imap/mailparse"
)

// FuzzParse proves that no bytes break the parser, and that what it says can be
// written and read again.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.eml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(nest(3, true)))
	f.Add([]byte("Content-Type: text/html\n\n<a style=\"display:none\" href='x>y<blockquote><pre>\n&#x;"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		sink := kept{}
		mail, err := mailparse.Parse(t.Context(), bytes.NewReader(raw), mailparse.Options{Sink: sink})
		if err != nil {
			t.Fatalf("a mail made it fail: %v", err)
		}
		validStrings(t, mail)
		limits := mailparse.DefaultLimits()
		if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text || len(mail.Hidden) > limits.Hidden || len(mail.Attachments) > limits.Parts {
			t.Fatal("a limit was passed")
		}
		for _, attachment := range mail.Attachments {
			if _, found := sink[attachment.Artifact.SHA256]; !found {
				t.Fatal("an attachment was not kept")
			}
		}
		if key := mailparse.PartitionKey(&mail); key != mail.Raw.SHA256 && key == "" {
			t.Fatal("the mail belongs to no conversation")
		}
	})
}
