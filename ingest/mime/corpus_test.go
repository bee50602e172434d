package mime_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"podium/ingest/mime"
	"podium/schemas"
)

// outsideMails is where the mails are that enmime is tested with. They come
// through the module cache; testdata/corpus/go.sum pins them.
func outsideMails(tb testing.TB) string {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), "go", "mod", "download", "-json", "github.com/jhillyerd/enmime/v2")
	command.Dir = filepath.Join("testdata", "corpus")
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	answer, err := command.Output()
	if err != nil {
		tb.Fatalf("fetch the outside mails: %v\n%s%s", err, answer, complaint.Bytes())
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(answer, &module); err != nil || module.Dir == "" {
		tb.Fatalf("go mod download says %s (%v)", answer, err)
	}
	return module.Dir
}

// A tally counts how mails were understood.
type tally struct {
	mails  int
	failed []string
}

// read parses one mail and proves what holds for every mail.
func (c *tally) read(tb testing.TB, name string, raw []byte) schemas.EmailReceived {
	tb.Helper()
	sink := kept{}
	mail, err := mime.Parse(tb.Context(), bytes.NewReader(raw), mime.Options{Sink: sink, AuthServIDs: []string{"mx.example.org"}})
	if err != nil {
		tb.Fatalf("%s made it fail: %v", name, err)
	}
	validStrings(tb, mail)
	validEvent(tb, name, mail)
	c.mails++
	if mail.Parse == schemas.ParseFailed {
		c.failed = append(c.failed, name)
	}
	return mail
}

// validEvent proves that the event of a mail is what its schema says.
func validEvent(tb testing.TB, name string, mail schemas.EmailReceived) {
	tb.Helper()
	mail.Account, mail.Mailbox = "a", "m"
	mail.Raw = schemas.Artifact{SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
	body, err := schemas.Marshal(mail)
	if err != nil {
		tb.Fatal(err)
	}
	if err := schemas.Validate("email_received", body); err != nil {
		tb.Fatalf("%s: %v\n%.2000s", name, err, body)
	}
}

// within fails when more than one mail in 200 could not be read at all.
func (c *tally) within(tb testing.TB, atLeast int) {
	tb.Helper()
	tb.Logf("%d mails, not understood at all: %d %v", c.mails, len(c.failed), c.failed)
	if c.mails < atLeast {
		tb.Errorf("there are only %d mails", c.mails)
	}
	if len(c.failed)*200 > c.mails {
		tb.Errorf("%d of %d mails failed: %v", len(c.failed), c.mails, c.failed)
	}
}

// TestOutsideCorpus_I15 reads the mails that another parser is tested with, many
// of them malformed.
func TestOutsideCorpus_I15(t *testing.T) {
	t.Parallel()
	var files []string
	err := filepath.WalkDir(outsideMails(t), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".raw" && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var counted tally
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		counted.read(t, filepath.Base(file), raw)
	}
	counted.within(t, 90)
}
