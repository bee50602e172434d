package mime_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"podium/ingest/mime"
	"podium/ingest/mime/structure"
	"podium/ingest/mime/trust"
	"podium/schemas"
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
		mail, err := mime.Parse(t.Context(), bytes.NewReader(raw), mime.Options{Sink: sink})
		if err != nil {
			t.Fatalf("a mail made it fail: %v", err)
		}
		validStrings(t, mail)
		limits := structure.DefaultLimits()
		if len(mail.Text) > limits.Text || len(mail.Quoted) > limits.Text || len(mail.Hidden) > limits.Hidden || len(mail.Attachments) > limits.Parts {
			t.Fatal("a limit was passed")
		}
		for _, attachment := range mail.Attachments {
			if _, found := sink[attachment.Artifact.SHA256]; !found {
				t.Fatal("an attachment was not kept")
			}
		}
		if key := mime.PartitionKey(&mail); key != mail.Raw.SHA256 && key == "" {
			t.Fatal("the mail belongs to no conversation")
		}
	})
}

// FuzzDKIM proves that no signature and no key record break the verification,
// that it leaves the mail at its beginning, and that nothing made up passes.
func FuzzDKIM(f *testing.F) {
	signature := "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/simple; d=example.com; s=k; h=From; bh=frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=; b=AAAA\r\n"
	f.Add([]byte(signature+"From: a@example.com\r\n\r\nx"), "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQ==")
	f.Add([]byte(signature+signature+"From: a@example.com\r\n\r\nx\r\n"), "k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
	f.Add([]byte("From: a@b.c\n"+signature+"\n"), "p=")
	f.Add([]byte(signature), "")
	f.Fuzz(func(t *testing.T, raw []byte, record string) {
		reader := bytes.NewReader(raw)
		options := mime.Options{Sink: kept{}, DKIM: trust.DKIM{LookupTXT: func(context.Context, string) ([]string, error) { return []string{record}, nil }}}
		mail, err := mime.Parse(t.Context(), reader, options)
		if err != nil {
			t.Fatal(err)
		}
		if mail.Auth.Verdict == schemas.AuthPass {
			t.Fatalf("a signature that nobody made passes: %+v", mail.Auth)
		}
		plain, err := mime.Parse(t.Context(), bytes.NewReader(raw), mime.Options{Sink: kept{}})
		if err != nil || plain.Text != mail.Text || plain.Subject != mail.Subject {
			t.Fatalf("verification changed the mail: %q, %q (%v)", plain.Text, mail.Text, err)
		}
	})
}
