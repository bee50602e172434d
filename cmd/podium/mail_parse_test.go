package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

// mailFiles writes messages into a folder.
func mailFiles(tb testing.TB, files map[string]string) string {
	tb.Helper()
	folder := tb.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return folder
}

func parsedLines(tb testing.TB, o outcome) []parsedMail {
	tb.Helper()
	if !utf8.ValidString(o.stdout) {
		tb.Fatalf("the output is not UTF-8: %q", o.stdout)
	}
	var all []parsedMail
	for line := range strings.Lines(o.stdout) {
		var one parsedMail
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			tb.Fatalf("%v in %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// TestMailParse: one line for each file, in order, and a bad file costs its
// own line and no other.
func TestMailParse(t *testing.T) {
	t.Parallel()
	folder := mailFiles(t, map[string]string{
		"a.eml":           "From: Ana <ana@example.org>\r\nTo: office@example.org\r\nSubject: Gr\xfc\xdfe\r\nMessage-ID: <1@example.org>\r\nReferences: <0@example.org>\r\n\r\nHello\r\n",
		"b.eml":           "",
		"deep/c.eml":      "From: ana@example.org\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nleft open\r\n--b\r\nContent-Type: image/png; name=\"../x.png\"\r\n\r\nabc",
		"deep/d\xff.eml":  "From: ana@example.org\r\n\r\n\xff\xfe\x00",
		"deep/nested/e":   "no header at all",
		"deep/nested/f/g": "From: ana@example.org\r\n\r\n" + strings.Repeat("x", 1<<20),
	})
	missing := filepath.Join(folder, "missing.eml")
	o := in(t, "Subject: from standard input\r\n\r\n", "mail", "parse", "-o", "json", folder, missing, "-")
	if o.code != exitFailed || o.stderr != "" {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
	got := parsedLines(t, o)
	want := []struct {
		file         string
		ok, degraded bool
	}{
		{"a.eml", true, false},
		{"b.eml", false, false},
		{"deep/c.eml", true, true},
		{"deep/d\uFFFD.eml", true, false},
		{"deep/nested/e", true, true},
		{"deep/nested/f/g", true, true},
		{"missing.eml", false, false},
		{"-", true, true},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), o.stdout)
	}
	for i, line := range got {
		if !strings.HasSuffix(line.File, want[i].file) || line.OK != want[i].ok || line.Degraded != want[i].degraded || line.OK != (line.Error == "") {
			t.Errorf("line %d: %s ok=%t degraded=%t %q, want %+v", i, line.File, line.OK, line.Degraded, line.Error, want[i])
		}
	}
	event, err := binding.Decode(bus.Message{Header: bus.Header{"Content-Type": {"application/cloudevents+json"}}, Body: got[0].Event})
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.Validate("email_received", event.Data); err != nil {
		t.Error(err)
	}
	var mail schemas.EmailReceived
	if err := schemas.Unmarshal(event.Data, &mail); err != nil {
		t.Fatal(err)
	}
	if mail.Subject != "Grüße" || mail.Text != "Hello" || event.PartitionKey != "0@example.org" || event.Type != schemas.TypeEmailReceived || len(mail.Raw.SHA256) != 64 {
		t.Errorf("got %+v of %+v", mail, event)
	}
}

// TestMailParseOfNothingWrong: scripts depend on the exit codes, and people read
// the lines.
func TestMailParseOfNothingWrong(t *testing.T) {
	t.Parallel()
	folder := mailFiles(t, map[string]string{"a.eml": "Authentication-Results: mx; dmarc=pass header.from=example.org\r\nFrom: ana@example.org\r\nSubject: one\r\n\r\nHello\r\n"})
	o := in(t, "", "mail", "parse", folder).succeeds(t)
	if !strings.Contains(o.stdout, "a.eml  ok  class=human attachments=0 subject=\"one\"\n") {
		t.Errorf("got %s", o.stdout)
	}
	for server, want := range map[string]string{"mx": `"auth":{"verdict":"pass","domain":"example.org","method":"dmarc","aligned":true}`, "mx2": `"auth":{"verdict":"none","aligned":false}`} {
		if o = in(t, "", "mail", "parse", folder, "-o", "json", "--authserv-id", server).succeeds(t); !strings.Contains(o.stdout, want) {
			t.Errorf("%s: got %s", server, o.stdout)
		}
	}
	nameless := mailFiles(t, map[string]string{"a.eml": "Authentication-Results: dmarc=pass header.from=example.org\r\nFrom: ana@example.org\r\n\r\nHello\r\n"})
	if o = in(t, "", "mail", "parse", nameless, "-o", "json", "--authserv-id", "").succeeds(t); !strings.Contains(o.stdout, `"verdict":"pass"`) {
		t.Errorf("a server without a name: %s", o.stdout)
	}
	missing := filepath.Join(folder, "missing.eml")
	if o = in(t, "", "mail", "parse", missing); o.code != exitFailed || !strings.HasPrefix(o.stdout, missing+"  failed: ") || strings.Contains(o.stdout, "class=") {
		t.Errorf("a file that is not there: exit code %d\n%s", o.code, o.stdout)
	}
	if o = in(t, "", "mail", "parse"); o.code != exitUsage {
		t.Errorf("without a file: exit code %d", o.code)
	}
}
