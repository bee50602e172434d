package chat_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/memory"
	"podium/ingest/chat"
	"podium/schemas"
)

func fileOf(name, mediaType string, content []byte) string {
	return fmt.Sprintf(`{"name":%q,"media_type":%q,"content":%q}`, name, mediaType, base64.StdEncoding.EncodeToString(content))
}

// TestFilesComeAlong_G42: what comes with a message is kept byte for byte, and the event names it by its hash; a repeat brings nothing new.
func TestFilesComeAlong_G42(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	picture, unknown := []byte("\x89PNG\r\n\x1a\n\x00"), make([]byte, chat.MaxBody+1)
	body := `{"text":"Look","message_id":"m1","attachments":[` + fileOf("arm.png", "image/png", picture) + `,` + fileOf("", "", unknown) + `]}`
	for range 2 {
		expect[chat.Accepted](t, adapter, post("web", body), http.StatusAccepted)
	}
	expect[map[string]any](t, adapter, post("web", `[{"text":"and"},{"text":"this","attachments":[`+fileOf("b.png", "image/png", picture)+`]}]`), http.StatusAccepted)
	var received [][]schemas.Attachment
	for _, event := range inputs(t, ledger) {
		received = append(received, read[schemas.ChatReceived](t, event.Data).Attachments)
	}
	kept := func(name, mediaType string, content []byte) schemas.Attachment {
		sum := sha256.Sum256(content)
		artifact := schemas.Artifact{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)), MediaType: mediaType}
		if !bytes.Equal(content, stillThere(t, ledger, artifact)) {
			t.Errorf("%s has other bytes", name)
		}
		return schemas.Attachment{Name: name, MediaType: mediaType, Artifact: artifact}
	}
	want := [][]schemas.Attachment{
		{kept("arm.png", "image/png", picture), kept("", "application/octet-stream", unknown)}, nil, {kept("b.png", "image/png", picture)},
	}
	if !reflect.DeepEqual(received, want) {
		t.Errorf("%+v\nwant\n%+v", received, want)
	}
}

// TestFilesAreBounded: what is wrong with a file is said where it stands, and nothing of its message is taken.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	adapter := newAdapter(t, ledger)
	with := func(files ...string) string {
		return `{"text":"Look","attachments":[` + strings.Join(files, ",") + `]}`
	}
	small := fileOf("a.png", "image/png", []byte("a"))
	for name, test := range map[string]struct {
		body    string
		status  int
		pointer string
		says    string
	}{
		"a folder":        {with(small, fileOf("../b", "image/png", nil)), http.StatusBadRequest, "#/attachments/1/name", "no folders"},
		"a long name":     {with(fileOf(strings.Repeat("x", 300), "image/png", nil)), http.StatusBadRequest, "#/attachments/0/name", "at most 256 bytes"},
		"no media type":   {with(fileOf("b", "picture", nil)), http.StatusBadRequest, "#/attachments/0/media_type", "image/jpeg"},
		"no base64":       {with(`{"content":"%%"}`), http.StatusBadRequest, "#/attachments/0/content", "base64"},
		"no list":         {`{"text":"Look","attachments":{}}`, http.StatusBadRequest, "#/attachments", "a list"},
		"too many":        {with(strings.Split(strings.Repeat(small+";", chat.MaxFiles+1), ";")[:chat.MaxFiles+1]...), http.StatusBadRequest, "#/attachments", "at most 16 files"},
		"too large":       {with(fileOf("b", "image/png", make([]byte, chat.MaxFileBytes+1))), http.StatusBadRequest, "#/attachments/0/content", "8388608 bytes"},
		"too many words":  {`{"text":"` + strings.Repeat("x", chat.MaxBody) + `","attachments":[` + small + `]}`, http.StatusRequestEntityTooLarge, "", "beside the files"},
		"beyond all size": {with(fileOf("b", "image/png", make([]byte, chat.MaxBodyWithFiles))), http.StatusRequestEntityTooLarge, "", "with them"},
	} {
		answer := post("web", test.body).do(t, adapter)
		told := read[chat.Problem](t, answer.Body.Bytes())
		said, at := told.Detail, ""
		if len(told.Errors) > 0 {
			said, at = told.Errors[0].Detail, told.Errors[0].Pointer
		}
		if answer.Code != test.status || at != test.pointer || !strings.Contains(said, test.says) {
			t.Errorf("%s: %d %s %q", name, answer.Code, at, said)
		}
	}
	if events := inputs(t, ledger); len(events) != 0 {
		t.Errorf("%d messages are taken", len(events))
	}
}

// TestFilesThatAreNotKept: where the store takes no file the sender reads that nothing is taken, and its repeat is.
func TestFilesThatAreNotKept(t *testing.T) {
	t.Parallel()
	ledger := memory.New(1)
	store := &brokenStore{Ledger: ledger, err: &bus.TemporaryError{Op: "put", Err: errors.New("away")}}
	adapter := newAdapter(t, store)
	body := `{"text":"Look","message_id":"m1","attachments":[` + fileOf("a.png", "image/png", []byte("a")) + `]}`
	if answer := post("web", body).do(t, adapter); answer.Code != http.StatusServiceUnavailable || len(inputs(t, ledger)) != 0 {
		t.Errorf("%d, %d messages", answer.Code, len(inputs(t, ledger)))
	}
	store.err = nil
	expect[chat.Accepted](t, adapter, post("web", body), http.StatusAccepted)
	if events := inputs(t, ledger); len(events) != 1 {
		t.Errorf("%d messages", len(events))
	}
}

// A brokenStore is a ledger whose store of files fails while err is set.
type brokenStore struct {
	*memory.Ledger
	err error
}

func (b *brokenStore) Artifacts() bus.ArtifactStore { return &failingStore{b.Ledger.Artifacts(), b} }

type failingStore struct {
	bus.ArtifactStore
	of *brokenStore
}

func (s *failingStore) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	if s.of.err != nil {
		return schemas.Artifact{}, s.of.err
	}
	return s.ArtifactStore.Put(ctx, r, mediaType)
}

// stillThere reads what is kept of a file.
func stillThere(t *testing.T, ledger bus.Core, artifact schemas.Artifact) []byte {
	t.Helper()
	content, err := ledger.Artifacts().Get(t.Context(), artifact)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := io.ReadAll(content)
	if err = errors.Join(err, content.Close()); err != nil {
		t.Fatal(err)
	}
	return kept
}
