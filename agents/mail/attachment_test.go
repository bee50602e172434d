package mail_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	gomessage "github.com/emersion/go-message/mail"

	"podium/agents/mail"
	"podium/agents/mail/smtpsink"
	"podium/bus"
	"podium/bus/agent"
	"podium/bus/memory"
	"podium/schemas"
)

// put keeps bytes and returns them as an attachment.
func put(t *testing.T, store bus.Artifacts, name, mediaType, content string) schemas.Attachment {
	t.Helper()
	artifact, err := store.Put(t.Context(), strings.NewReader(content), mediaType)
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Attachment{Name: name, MediaType: mediaType, Artifact: artifact}
}

// A file is an attachment as a mail program finds it.
type file struct{ name, mediaType, content string }

func filesOf(t *testing.T, message smtpsink.Message) (words string, files []file) {
	t.Helper()
	reader, err := gomessage.CreateReader(bytes.NewReader(message.Data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return words, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		header, attached := part.Header.(*gomessage.AttachmentHeader)
		if !attached {
			if words == "" {
				words = string(content)
			}
			continue
		}
		name, err := header.Filename()
		if err != nil {
			t.Fatal(err)
		}
		mediaType, _, err := header.ContentType()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{name, mediaType, string(content)})
	}
}

func TestAttachmentsAreSentAsTheyAre(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	binary := strings.Repeat("\x00\xff\r\n.\r\nä", 1000)
	given := newAnswer()
	given.Attachments = []schemas.Attachment{
		put(t, store, "../../etc/Größe 1.csv", "text/csv; charset=x", "a;b\r\n"),
		put(t, store, "x\"\r\nBcc: victim@example.net\r\n.pdf", "application/pdf", binary),
		put(t, store, `C:\temp\..`, "multipart/mixed; boundary=x", "1"),
		put(t, store, "", "no type\r\nX-Evil: 1", "2"),
	}
	sink := startSink(t, smtpsink.Config{})
	request := requestWith(t, given)
	request.Artifacts = store
	result, err := newAgent(t, sink).Handle(t.Context(), request, ignore)
	if err != nil || receiptOf(t, result).Left != nil {
		t.Fatalf("%s, %v", result.Data, err)
	}
	message := sink.Messages()[0]
	_, files := filesOf(t, message)
	want := []file{
		{"Größe 1.csv", "text/csv", "a;b\r\n"},
		{"x_ Bcc_ victim@example.net .pdf", "application/pdf", binary},
		{"attachment", "application/octet-stream", "1"},
		{"attachment", "application/octet-stream", "2"},
	}
	if !slices.Equal(files, want) {
		for i := range files {
			t.Errorf("%q %s, %d bytes", files[i].name, files[i].mediaType, len(files[i].content))
		}
	}
	if header := message.Header(); header.Get("Bcc") != "" || header.Get("X-Evil") != "" || bytes.Contains(message.Data, []byte("\nX-Evil")) || bytes.Contains(message.Data, []byte("\nBcc")) {
		t.Error("a name became a header")
	}
}

// What is too much, gone or not as announced is left out, and the letter says so.
func TestAttachmentsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	sum := sha256.Sum256([]byte("nobody has put this"))
	gone := schemas.Attachment{Name: "gone.txt", Artifact: schemas.Artifact{SHA256: hex.EncodeToString(sum[:]), Size: 3}}
	lying := put(t, store, "lying.txt", "text/plain", strings.Repeat("x", 200))
	lying.Artifact.Size = 1
	given := newAnswer()
	given.Attachments = []schemas.Attachment{
		put(t, store, "large.txt", "text/plain", strings.Repeat("x", 101)), put(t, store, "first.txt", "text/plain", strings.Repeat("y", 60)),
		gone, lying, put(t, store, "second.txt", "text/plain", strings.Repeat("z", 41)), put(t, store, "third.txt", "text/plain", strings.Repeat("z", 40)),
	}
	sink := startSink(t, smtpsink.Config{})
	request := requestWith(t, given)
	request.Artifacts = store
	result, err := newAgent(t, sink, func(a *mail.Account) { a.AttachmentLimit = 100 }).Handle(t.Context(), request, ignore)
	if err != nil {
		t.Fatal(err)
	}
	left := []string{"large.txt", "gone.txt", "lying.txt", "second.txt"}
	if receipt := receiptOf(t, result); !slices.Equal(receipt.Left, left) {
		t.Errorf("left out %q, want %q", receipt.Left, left)
	}
	words, files := filesOf(t, sink.Messages()[0])
	if len(files) != 2 || files[0].name != "first.txt" || files[1].name != "third.txt" {
		t.Errorf("%d files", len(files))
	}
	if !strings.Contains(words, "Nicht angehängt, weil zu groß oder nicht mehr da: "+strings.Join(left, ", ")) {
		t.Errorf("the letter says %q", words)
	}
}

// unreachable is an object store that cannot be had now.
type unreachable struct{ bus.Artifacts }

func (unreachable) Get(context.Context, schemas.Artifact) (io.ReadCloser, error) {
	return nil, errors.New("no connection")
}

func TestUnreachableAttachmentsAreAFailureForNow(t *testing.T) {
	t.Parallel()
	sink := startSink(t, smtpsink.Config{})
	given := newAnswer()
	given.Attachments = []schemas.Attachment{put(t, memory.New(1).Artifacts(), "a", "text/plain", "a")}
	request := requestWith(t, given)
	request.Artifacts = unreachable{}
	_, err := newAgent(t, sink).Handle(t.Context(), request, ignore)
	var failure *agent.Failure
	if err == nil || errors.As(err, &failure) && failure.Permanent || len(sink.Messages()) != 0 {
		t.Errorf("%v, %d letters", err, len(sink.Messages()))
	}
}
