package bus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"podium/bus"
	"podium/bus/memory"
	"podium/schemas"
)

func TestClaimCheck(t *testing.T) {
	t.Parallel()
	store := memory.New(1).Artifacts()
	for name, c := range map[string]struct {
		size      int
		offloaded bool
	}{"Empty": {0, false}, "AtTheLimit": {bus.ClaimLimit, false}, "Above": {bus.ClaimLimit + 1, true}, "Large": {5 << 20, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := bytes.Repeat([]byte("x"), c.size)
			e := schemas.Event{ID: "1", Source: "/s", Type: "t", DataContentType: "text/plain", Data: data}
			if err := bus.Offload(t.Context(), store, &e); err != nil {
				t.Fatal(err)
			}
			if (e.Artifact != nil) != c.offloaded || c.offloaded && (len(e.Data) > 0 || e.Artifact.MediaType != "text/plain" || e.Artifact.Size != int64(c.size)) {
				t.Errorf("artifact %+v with %d bytes of data", e.Artifact, len(e.Data))
			}
			m, err := bus.Encode("x", &e)
			if err != nil {
				t.Fatal(err)
			}
			back, err := bus.Decode(m)
			if err != nil {
				t.Fatal(err)
			}
			if err := bus.Resolve(t.Context(), store, &back); err != nil || back.Artifact != nil || !bytes.Equal(back.Data, data) {
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

func (l lying) Get(context.Context, string) (io.ReadCloser, error) {
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
		"TooLarge":   {memoryStore, schemas.Artifact{SHA256: kept.SHA256, Size: bus.ArtifactLimit + 1}, bus.ErrTooLarge},
		"TooLong":    {lying{strings.Repeat("x", bus.ArtifactLimit+1)}, kept, bus.ErrTooLarge},
	} {
		e := schemas.Event{ID: "1", Source: "/s", Type: "t", Artifact: &c.artifact}
		if err := bus.Resolve(t.Context(), c.store, &e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	huge := schemas.Event{ID: "1", Source: "/s", Type: "t", Data: make([]byte, bus.ArtifactLimit+1)}
	if err := bus.Offload(t.Context(), memoryStore, &huge); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("Offload over the limit: %v", err)
	}
	huge.Data = huge.Data[:bus.ArtifactLimit]
	if err := bus.Offload(t.Context(), lying{}, &huge); err == nil || huge.Artifact != nil || len(huge.Data) == 0 {
		t.Errorf("a failed Offload: %v, %+v", err, huge.Artifact)
	}
}

// asking returns the agent's half over a memory ledger whose core answers.
func asking(t *testing.T) (*memory.Ledger, *memory.Worker, bus.Artifacts) {
	t.Helper()
	ledger := memory.New(1)
	stop, err := bus.ServeAgents(ledger, ledgerTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	w := ledger.Worker("echo")
	return ledger, w, bus.ServiceArtifacts(w.Ask)
}

func TestServiceArtifacts(t *testing.T) {
	t.Parallel()
	ledger, _, store := asking(t)
	for _, size := range []int{0, 1, bus.ArtifactChunk, bus.ArtifactChunk + 1, 3*bus.ArtifactChunk - 1, 5 << 20} {
		content := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		direct, err := ledger.Artifacts().Put(t.Context(), bytes.NewReader(content), "")
		if err != nil {
			t.Fatal(err)
		}
		put, err := store.Put(t.Context(), bytes.NewReader(content), "text/x")
		if err != nil || put.SHA256 != direct.SHA256 || put.Size != int64(size) || put.MediaType != "text/x" {
			t.Fatalf("%d bytes: put %+v, %v", size, put, err)
		}
		r, err := store.Get(t.Context(), put.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := store.Get(t.Context(), hash); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("get of a missing artifact: %v", err)
	}
	if _, err := store.Put(t.Context(), io.LimitReader(endless{}, bus.ArtifactLimit+1), ""); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("put over the limit: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestArtifactServiceRefuses(t *testing.T) {
	t.Parallel()
	ledger, w, _ := asking(t)
	small, err := ledger.Artifacts().Put(t.Context(), strings.NewReader("x"), "")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"no line": "", "{}\n": "knows put, join and get", `{"op":"erase"}` + "\n": "knows put, join and get",
		`{"op":"get","sha256":"` + small.SHA256[:8] + `"}` + "\n":                            `"not_found"`,
		`{"op":"get","sha256":"` + small.SHA256 + `","offset":2}` + "\n":                     "outside",
		`{"op":"get","sha256":"` + small.SHA256 + `","offset":-1}` + "\n":                    "outside",
		`{"op":"join","sha256":"` + hash + `","parts":["` + small.SHA256 + `"]}` + "\n":      `"corrupt"`,
		`{"op":"join","sha256":"` + hash + `","parts":["` + hash + `"]}` + "\n":              `"not_found"`,
		`{"op":"put"}` + "\n" + strings.Repeat("x", bus.ArtifactChunk+1):                     `"too_large"`,
		`{"op":"join","parts":[` + strings.Repeat(`"a",`, 200) + `"a"],"sha256":"x"}` + "\n": `"too_large"`,
	} {
		answer, err := w.Ask(t.Context(), bus.ServiceArtifact, []byte(body))
		if want == "" {
			if err == nil {
				t.Errorf("%.40q is answered %s", body, answer)
			}
			continue
		}
		if err != nil || !strings.Contains(string(answer), `"error"`) || !strings.Contains(string(answer), want) {
			t.Errorf("%.40q is answered %s, %v; want %s", body, answer, err, want)
		}
	}
}

func FuzzArtifactService(f *testing.F) {
	f.Add([]byte("{\"op\":\"put\"}\nx"))
	f.Add([]byte("{\"op\":\"join\",\"parts\":[\"\"]}\n"))
	f.Add([]byte("{\"op\":\"get\",\"sha256\":\"" + hash + "\",\"offset\":9223372036854775807}\n"))
	ledger := memory.New(1)
	stop, err := bus.ServeAgents(ledger, ledgerTime)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(stop)
	w := ledger.Worker("echo")
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, err := w.Ask(t.Context(), bus.ServiceArtifact, body)
		if err == nil && !bytes.Contains(answer, []byte{'\n'}) {
			t.Errorf("an answer without a frame: %q", answer)
		}
	})
}
