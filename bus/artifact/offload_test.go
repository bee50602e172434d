package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/memory"
	"podium/schemas"
)

func TestClaimCheck(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	for name, c := range map[string]struct {
		size      int
		offloaded bool
	}{"Empty": {0, false}, "AtTheLimit": {artifact.MessageInlineLimit, false}, "Above": {artifact.MessageInlineLimit + 1, true}, "Large": {5 << 20, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := bytes.Repeat([]byte("x"), c.size)
			e := schemas.Event{ID: "1", Source: "/s", Type: "t", DataContentType: "text/plain", Data: data}
			if err := artifact.Offload(t.Context(), store, &e); err != nil {
				t.Fatal(err)
			}
			if (e.Artifact != nil) != c.offloaded || c.offloaded && (len(e.Data) > 0 || e.Artifact.MediaType != "text/plain" || e.Artifact.Size != int64(c.size)) {
				t.Errorf("artifact %+v with %d bytes of data", e.Artifact, len(e.Data))
			}
			m, err := binding.Encode("x", &e)
			if err != nil {
				t.Fatal(err)
			}
			back, err := binding.Decode(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := artifact.Resolve(t.Context(), store, &back); err != nil || back.Artifact != nil || !bytes.Equal(back.Data, data) {
				t.Errorf("%d bytes came back, %v", len(back.Data), err)
			}
		})
	}
}

// lying is a store whose bytes are not what they are named.
type lying struct{ content string }

func (lying) Put(context.Context, io.Reader, string) (schemas.Artifact, error) {
	return schemas.Artifact{}, errors.New("full")
}

func (l lying) Get(context.Context, schemas.Artifact) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(l.content)), nil
}

func TestClaimCheckRefuses(t *testing.T) {
	t.Parallel()
	memoryStore := memory.New(1).Artifacts()
	kept, err := memoryStore.Put(t.Context(), strings.NewReader("abc"), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		store    bus.Artifacts
		artifact schemas.Artifact
		want     error
	}{
		"Missing":    {memoryStore, schemas.Artifact{SHA256: hash, Size: 1}, bus.ErrNotFound},
		"OtherBytes": {lying{"abd"}, kept, bus.ErrCorrupt},
		"OtherSize":  {memoryStore, schemas.Artifact{SHA256: kept.SHA256, Size: 2}, bus.ErrCorrupt},
		"TooLarge":   {memoryStore, schemas.Artifact{SHA256: kept.SHA256, Size: artifact.MaxSize + 1}, bus.ErrTooLarge},
		"TooLong":    {lying{strings.Repeat("x", artifact.MaxSize+1)}, kept, bus.ErrCorrupt},
	} {
		e := schemas.Event{ID: "1", Source: "/s", Type: "t", Artifact: &c.artifact}
		if err := artifact.Resolve(t.Context(), c.store, &e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	huge := schemas.Event{ID: "1", Source: "/s", Type: "t", Data: make([]byte, artifact.MaxSize+1)}
	if err := artifact.Offload(t.Context(), memoryStore, &huge); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("Offload over the limit: %v", err)
	}
	huge.Data = huge.Data[:artifact.MaxSize]
	if err := artifact.Offload(t.Context(), lying{}, &huge); err == nil || huge.Artifact != nil || len(huge.Data) == 0 {
		t.Errorf("a failed Offload: %v, %+v", err, huge.Artifact)
	}
}

// bottomless is a store whose artifacts have no end; it counts what is read of them.
type bottomless struct {
	lying
	read int64
}

func (e *bottomless) Get(context.Context, schemas.Artifact) (io.ReadCloser, error) {
	return io.NopCloser(e), nil
}

func (e *bottomless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// TestNoMoreIsReadThanIsSaid: an agent says how large a body is, and by that room is
// made for it. No more is held of it, however large it is.
func TestNoMoreIsReadThanIsSaid(t *testing.T) {
	t.Parallel()
	store := &bottomless{}
	e := schemas.Event{ID: "1", Source: "/s", Type: "t", Artifact: &schemas.Artifact{SHA256: hash, Size: 1000}}
	if err := artifact.Resolve(t.Context(), store, &e); !errors.Is(err, bus.ErrCorrupt) {
		t.Errorf("a body larger than it says: %v", err)
	}
	if store.read > 4096 {
		t.Errorf("%d bytes were read of a body of 1000", store.read)
	}
}
