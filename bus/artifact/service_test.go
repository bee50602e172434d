package artifact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/memory"
	"podium/bus/registry"
	"podium/schemas"
)

// asking returns the agent's half over a memory ledger whose core answers.
func asking(tb testing.TB) (*memory.Ledger, *memory.Worker, bus.Artifacts) {
	tb.Helper()
	ledger := memory.New(1)
	stop, err := registry.ServeAgents(tb.Context(), ledger, registry.AgentServices{Clock: ledgerTime})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	w := ledger.Worker("echo")
	return ledger, w, w.Artifacts("request")
}

func TestServiceArtifacts(t *testing.T) {
	t.Parallel()
	ledger, _, store := asking(t)
	for _, size := range []int{0, 1, artifact.ChunkSize, artifact.ChunkSize + 1, 3*artifact.ChunkSize - 1, 5 << 20} {
		content := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		direct, err := ledger.Artifacts().Put(t.Context(), bytes.NewReader(content), "")
		if err != nil {
			t.Fatal(err)
		}
		put, err := store.Put(t.Context(), bytes.NewReader(content), "text/x")
		if err != nil || put.SHA256 != direct.SHA256 || put.Size != int64(size) || put.MediaType != "text/x" {
			t.Fatalf("%d bytes: put %+v, %v", size, put, err)
		}
		r, err := store.Get(t.Context(), put)
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
	if _, err := store.Get(t.Context(), schemas.Artifact{SHA256: hash}); !errors.Is(err, bus.ErrNotGranted) {
		t.Errorf("get of what was not granted: %v", err)
	}
	if _, err := store.Put(t.Context(), io.LimitReader(endless{}, artifact.MaxSize+1), ""); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("put over the limit: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestArtifactServiceRefuses(t *testing.T) {
	t.Parallel()
	ledger, w, store := asking(t)
	grants := openGrants(t, ledger, ledgerTime())
	small, err := store.Put(t.Context(), strings.NewReader("x"), "")
	if err != nil {
		t.Fatal(err)
	}
	large, err := store.Put(t.Context(), strings.NewReader(strings.Repeat("x", artifact.ChunkSize+1)), "")
	if err != nil {
		t.Fatal(err)
	}
	get := func(sha256, grant string, offset int) string {
		return fmt.Sprintf(`{"op":"get","request":"request","sha256":%q,"grant":%q,"offset":%d}`+"\n", sha256, grant, offset)
	}
	join := func(whole string, parts ...schemas.Artifact) string {
		var hashes, given []string
		for _, part := range parts {
			hashes, given = append(hashes, part.SHA256), append(given, part.Grant)
		}
		body, err := schemas.Marshal(map[string]any{"op": "join", "sha256": whole, "parts": hashes, "grants": given})
		if err != nil {
			t.Fatal(err)
		}
		return string(body) + "\n"
	}
	gone := schemas.Artifact{SHA256: hash, Grant: grants.Put("echo", hash)}
	bare, foreign := small, small
	bare.Grant, foreign.Grant = "", grants.Put("another", small.SHA256)
	for body, want := range map[string]string{
		"no line": "", "{}\n": "knows put, join and get", `{"op":"erase"}` + "\n": "knows put, join and get",
		get(small.SHA256, "", 0):            `"denied"`,
		get(small.SHA256, foreign.Grant, 0): `"denied"`,
		get(hash, small.Grant, 0):           `"denied"`,
		get(hash, gone.Grant, 0):            `"not_found"`,
		get(small.SHA256[:8], grants.Read("echo", "request", small.SHA256[:8], ledgerTime().Add(time.Hour)), 0): `"not_found"`,
		get(small.SHA256, small.Grant, 2):  "outside",
		get(small.SHA256, small.Grant, -1): "outside",
		join(hash, bare):                   `"denied"`,
		join(hash, foreign):                `"denied"`,
		`{"op":"join","sha256":"` + hash + `","parts":["` + small.SHA256 + `"]}` + "\n": `"denied"`,
		join(hash, small): `"corrupt"`,
		join(hash, gone):  `"not_found"`,
		join(hash, large): `"too_large"`,
		join(hash, slices.Repeat([]schemas.Artifact{small}, 129)...):      `"too_large"`,
		`{"op":"put"}` + "\n" + strings.Repeat("x", artifact.ChunkSize+1): `"too_large"`,
		`{"op":"put"}` + "\n" + strings.Repeat("x", 2*artifact.ChunkSize): `"too_large"`,
	} {
		answer, err := w.Ask(t.Context(), bus.ServiceArtifact, []byte(body))
		if want == "" {
			if err == nil {
				t.Errorf("%.40q is answered %s", body, answer)
			}
			continue
		}
		if err != nil || !strings.Contains(string(answer), `"error"`) || !strings.Contains(string(answer), want) {
			t.Errorf("%.140q is answered %s, %v; want %s", body, answer, err, want)
		}
	}
}

func FuzzArtifactService(f *testing.F) {
	f.Add([]byte("{\"op\":\"put\"}\nx"))
	f.Add([]byte("{\"op\":\"join\",\"parts\":[\"\"],\"grants\":[\"\"]}\n"))
	f.Add([]byte("{\"op\":\"get\",\"grant\":\"put.x..AAAA\",\"sha256\":\"" + hash + "\",\"offset\":9223372036854775807}\n"))
	_, w, _ := asking(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, err := w.Ask(t.Context(), bus.ServiceArtifact, body)
		if err == nil && !bytes.Contains(answer, []byte{'\n'}) {
			t.Errorf("an answer without a frame: %q", answer)
		}
	})
}

// A weighed ledger counts what its artifacts hold in memory: pieces that were
// handed out and are not stored yet. Work on it waits while it is held.
type weighed struct {
	*memory.Ledger

	mu                      sync.Mutex
	held, most              int
	under, mostUnder, reads int
	gate                    chan struct{} // nil waits for nothing
}

func (w *weighed) Artifacts() bus.ArtifactStore { return weighedStore{w.Ledger.Artifacts(), w} }

func (w *weighed) add(bytes, under int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.under = w.held+bytes, w.under+under
	w.most, w.mostUnder = max(w.most, w.held), max(w.mostUnder, w.under)
}

func (w *weighed) wait() {
	w.add(0, 1)
	if w.gate != nil {
		<-w.gate
	}
	w.add(0, -1)
}

type weighedStore struct {
	bus.ArtifactStore
	weighed *weighed
}

func (s weighedStore) Part(ctx context.Context, sha256 string, offset int64, limit int) ([]byte, int64, error) {
	if limit > 0 {
		s.weighed.mu.Lock()
		s.weighed.reads++
		s.weighed.mu.Unlock()
		s.weighed.wait()
	}
	piece, size, err := s.ArtifactStore.Part(ctx, sha256, offset, limit)
	s.weighed.add(len(piece), 0)
	return piece, size, err
}

// PutPending drops what it reads, as a store does that writes to a disk.
func (s weighedStore) PutPending(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	if sized, ok := r.(*bytes.Reader); ok && sized.Len() <= artifact.ChunkSize {
		return s.ArtifactStore.PutPending(ctx, r, mediaType)
	}
	s.weighed.wait()
	sum, size, buffer := sha256.New(), int64(0), make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		_, _ = sum.Write(buffer[:n])
		s.weighed.add(-n, 0)
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return schemas.Artifact{SHA256: hex.EncodeToString(sum.Sum(nil)), Size: size}, nil
		}
		if err != nil {
			return schemas.Artifact{}, err
		}
	}
}

func weigh(t *testing.T) *weighed {
	t.Helper()
	w := &weighed{Ledger: memory.New(1)}
	stop, err := registry.ServeAgents(t.Context(), w, registry.AgentServices{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return w
}

func (w *weighed) ask(ctx context.Context, agent, body string) string {
	answer, err := w.Worker(agent).Ask(ctx, bus.ServiceArtifact, []byte(body))
	if err != nil {
		return err.Error()
	}
	head, _, _ := strings.Cut(string(answer), "\n")
	return head
}

// Of what is joined one piece is in memory, also when one piece is listed 128
// times; whether it may be and has room is known before any is read.
func TestJoinHoldsOnePiece(t *testing.T) {
	t.Parallel()
	w := weigh(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), artifact.ChunkSize/16)
	part, err := w.Worker("alpha").Artifacts("r").Put(t.Context(), bytes.NewReader(content), "")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for range 128 {
		_, _ = sum.Write(content)
	}
	whole := hex.EncodeToString(sum.Sum(nil))
	head := func(times int, more ...string) string {
		body, err := schemas.Marshal(map[string]any{
			"op": "join", "sha256": whole, "parts": append(slices.Repeat([]string{part.SHA256}, times), more...),
			"grants": append(slices.Repeat([]string{part.Grant}, times), more...),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(body) + "\n"
	}
	if answer := w.ask(t.Context(), "alpha", head(128)); !strings.Contains(answer, fmt.Sprintf(`"sha256":%q`, whole)) || !strings.Contains(answer, fmt.Sprintf(`"size":%d`, 128*artifact.ChunkSize)) {
		t.Errorf("joined: %s", answer)
	}
	if w.most > artifact.ChunkSize || w.reads != 128 {
		t.Errorf("%d bytes were held at once, %d reads", w.most, w.reads)
	}
	for body, want := range map[string]string{head(129): "too_large", head(127, hash): "denied"} {
		if answer := w.ask(t.Context(), "alpha", body); !strings.Contains(answer, want) || w.reads != 128 {
			t.Errorf("%s: %s after %d reads", want, answer, w.reads)
		}
	}
}

// However many requests an agent makes, over however many connections, four are
// worked on and twelve wait; it is told so, and another agent does not notice.
func TestArtifactRequestsOfOneAgentAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := weigh(t)
		read := func(agent string) string {
			put, err := w.Worker(agent).Artifacts("r").Put(t.Context(), strings.NewReader("of "+agent), "")
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(`{"op":"get","sha256":%q,"grant":%q}`+"\n", put.SHA256, put.Grant)
		}
		flood, single := read("alpha"), read("beta")
		w.gate = make(chan struct{})
		var mu sync.Mutex
		answers := map[string]int{}
		ask := func(agent, body string) {
			answer := w.ask(t.Context(), agent, body)
			mu.Lock()
			defer mu.Unlock()
			answers[agent+" "+answer[:min(len(answer), 15)]]++
		}
		for range 20 * 500 {
			go ask("alpha", flood)
		}
		synctest.Wait()
		if answers[`alpha {"error":"busy"`] != 20*500-16 || w.under != 4 {
			t.Errorf("answered %v, %d are worked on", answers, w.under)
		}
		go ask("beta", single)
		synctest.Wait()
		if w.under != 5 {
			t.Errorf("%d are worked on, another agent's with them", w.under)
		}
		close(w.gate)
		synctest.Wait()
		if len(answers) != 3 || w.mostUnder != 5 {
			t.Errorf("in the end: %v, %d at once", answers, w.mostUnder)
		}
	})
}

// All agents together hold no more than the service may.
func TestArtifactRequestsOfAllAgentsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := weigh(t)
		content := make([]byte, artifact.ChunkSize)
		sum := sha256.New()
		for range 2 {
			_, _ = sum.Write(content)
		}
		whole := hex.EncodeToString(sum.Sum(nil))
		var bodies []string
		for i := range 40 {
			put, err := w.Worker(fmt.Sprint("agent", i)).Artifacts("r").Put(t.Context(), bytes.NewReader(content), "")
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, fmt.Sprintf(`{"op":"join","sha256":%q,"parts":[%q,%[2]q],"grants":[%q,%[3]q]}`+"\n", whole, put.SHA256, put.Grant))
		}
		w.gate = make(chan struct{})
		var done sync.WaitGroup
		for i, body := range bodies {
			for range 8 {
				done.Go(func() {
					if answer := w.ask(t.Context(), fmt.Sprint("agent", i), body); !strings.Contains(answer, whole) {
						t.Errorf("agent %d: %s", i, answer)
					}
				})
			}
		}
		synctest.Wait()
		const each = 4<<20 + artifact.ChunkSize
		if w.under != 64<<20/each {
			t.Errorf("%d joins are worked on at once", w.under)
		}
		close(w.gate)
		done.Wait()
	})
}

// What one agent is given comes no faster than 32 MiB a second behind the first
// 4 MiB, so that what a slow reader leaves unread grows no faster either.
func TestArtifactsComeAtARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := weigh(t)
		store := w.Worker("alpha").Artifacts("r")
		put, err := store.Put(t.Context(), bytes.NewReader(make([]byte, artifact.ChunkSize)), "")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range (4<<20 + 64<<20) / artifact.ChunkSize {
			r, err := store.Get(t.Context(), put)
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Close()
		}
		if took := time.Since(began); took < 1900*time.Millisecond || took > 2200*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

// An agent whose requests have no room tries again by itself.
func TestArtifactsWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := weigh(t)
		store := w.Worker("alpha").Artifacts("r")
		put, err := store.Put(t.Context(), strings.NewReader("x"), "")
		if err != nil {
			t.Fatal(err)
		}
		w.gate = make(chan struct{})
		var failed sync.Map
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				if _, err := store.Get(t.Context(), put); err != nil {
					failed.Store(i, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := store.Get(ctx, put); !bus.Temporary(err) {
			t.Errorf("without room: %v", err)
		}
		close(w.gate)
		group.Wait()
		failed.Range(func(i, err any) bool {
			t.Errorf("reader %v: %v", i, err)
			return true
		})
	})
}
