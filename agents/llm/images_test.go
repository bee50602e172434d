package llm_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"podium/agents/llm"
	"podium/agents/llm/modelserver"
	"podium/bus"
	"podium/schemas"
)

// pictures are artifacts by their hash.
type pictures map[string][]byte

func (p pictures) Get(_ context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	content, known := p[artifact.SHA256]
	switch {
	case !known:
		return nil, bus.ErrNotGranted
	case content == nil:
		return nil, errors.New("the store is away")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (pictures) Put(context.Context, io.Reader, string) (schemas.Artifact, error) {
	return schemas.Artifact{}, errors.New("a model keeps nothing")
}

// TestPictures_C17: pictures are shown to a model that sees, in their order and as what their bytes are; anything else
// is told by its name.
func TestPictures_C17(t *testing.T) {
	t.Parallel()
	png, jpeg := []byte("\x89PNG\r\n\x1a\n one"), []byte("\xff\xd8\xff\xe0 two")
	asked := request(llm.RoleWorker, "What do you see?")
	asked.Artifacts = pictures{"p": png, "j": jpeg, "s": []byte("<svg onload='x'/>"), "h": []byte("<html>")}
	for _, file := range []struct {
		name, hash, kind string
		size             int64
	}{
		{"one.png", "p", "image/png", 12},
		{"findings.pdf", "f", "application/pdf", 12},
		{"two.jpg", "j", "image/png", 8},
		{"x.svg", "s", "image/svg+xml", 20},
		{"lies.png", "h", "image/png", 6},
		{"huge.png", "p", "image/png", 9 << 20},
		{"gone.png", "g", "image/png", 12},
	} {
		told := &asked.Task().Context
		told.Attachments = append(told.Attachments, schemas.TaskAttachment{ID: "a" + file.name, Name: file.name, MediaType: file.kind, Size: file.size, SHA256: file.hash})
	}
	for _, sees := range []bool{true, false} {
		made, server := asking(t, llm.RoleWorker, says(modelserver.Answer{Text: "Two."}), func(c *llm.Config) { c.Vision = sees })
		if _, failure := handle(t, made, asked); failure != nil {
			t.Fatal(failure.Message)
		}
		call := server.Calls()[0]
		var want []string
		if sees {
			want = []string{"data:image/png;base64," + base64.StdEncoding.EncodeToString(png), "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg)}
		}
		if !slices.Equal(call.Images, want) || strings.Contains(call.System, "pictures") != sees {
			t.Errorf("it is shown %q\n%s", call.Images, call.System)
		}
		files := call.Block("files")
		for _, name := range []string{"one.png", "findings.pdf", "two.jpg", "x.svg", "lies.png", "huge.png", "gone.png"} {
			if !strings.Contains(files, name) {
				t.Errorf("%s is not told of\n%s", name, files)
			}
		}
		if strings.Contains(files, "12 bytes): picture 1\n") != sees || strings.Contains(files, "8 bytes): picture 2\n") != sees {
			t.Errorf("its files are\n%s", files)
		}
	}
	asked.Artifacts = pictures{"p": nil}
	made, server := asking(t, llm.RoleWorker, says(modelserver.Answer{Text: "Two."}), func(c *llm.Config) { c.Vision = true })
	if _, failure := handle(t, made, asked); failure == nil || failure.Permanent || !strings.Contains(failure.Message, "picture") || len(server.Calls()) > 0 {
		t.Errorf("without the store: %v", failure)
	}
}
