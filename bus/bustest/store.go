package bustest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"podium/bus"
	"podium/schemas"
)

func testStore(t *testing.T, s System) {
	for _, bucket := range []string{bus.AgentBucket, bus.MailboxBucket, bus.LeaseBucket, bus.BudgetBucket} {
		t.Run(bucket, func(t *testing.T) { testBucket(t, s.Core.KeyValue(bucket)) })
	}
	t.Run("BucketsAreApart", func(t *testing.T) {
		ctx := deadline(t)
		if _, err := s.Core.KeyValue(bus.AgentBucket).Put(ctx, "apart", []byte("agents")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Core.KeyValue(bus.MailboxBucket).Get(ctx, "apart"); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("a key of one bucket in another: %v, want ErrNotFound", err)
		}
	})
}

func testBucket(t *testing.T, store bus.KeyValue) {
	t.Helper()
	ctx := deadline(t)
	if keys, err := store.Keys(ctx); err != nil || len(keys) != 0 {
		t.Errorf("keys of a new bucket: %v, %v", keys, err)
	}
	if _, _, err := store.Get(ctx, "none"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("get of a missing key gave %v, want ErrNotFound", err)
	}
	if err := store.Delete(ctx, "none"); err != nil {
		t.Errorf("delete of a missing key: %v", err)
	}
	created, err := store.Update(ctx, "key", []byte("1"), 0)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if _, err := store.Update(ctx, "key", []byte("x"), 0); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("create of an existing key gave %v, want ErrConflict", err)
	}
	updated, err := store.Update(ctx, "key", []byte("2"), created)
	if err != nil {
		t.Fatalf("update: %v", err)
	}
	if _, err := store.Update(ctx, "key", []byte("x"), created); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("update at an old revision gave %v, want ErrConflict", err)
	}
	if value, revision, err := store.Get(ctx, "key"); err != nil || string(value) != "2" || revision != updated {
		t.Errorf("get gave %q at %d, %v; want 2 at %d", value, revision, err, updated)
	}
	put, err := store.Put(ctx, "key", []byte("3"))
	if err != nil || put <= updated {
		t.Errorf("put gave revision %d after %d, %v", put, updated, err)
	}
	if err := store.Delete(ctx, "key"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, _, err := store.Get(ctx, "key"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("get of a deleted key gave %v, want ErrNotFound", err)
	}
	if _, err := store.Update(ctx, "key", []byte("x"), put); !errors.Is(err, bus.ErrConflict) {
		t.Errorf("update of a deleted key gave %v, want ErrConflict", err)
	}
	if _, err := store.Update(ctx, "key", []byte("4"), 0); err != nil {
		t.Errorf("create of a deleted key: %v", err)
	}
	if _, err := store.Put(ctx, "not a key", nil); err == nil {
		t.Error("a key with a space was taken")
	}
	testKeys(ctx, t, store)
	testStoreRace(ctx, t, store)
	for key, value := range map[string]string{"a.b.c": "1", "a.b.d": "2", "a.bb.c": "3", "a.b": "4"} {
		if _, err := store.Put(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Delete(ctx, "a.b.d"); err != nil {
		t.Fatal(err)
	}
	found, err := store.Below(ctx, "a.b.")
	if err != nil || len(found) != 1 || string(found["a.b.c"]) != "1" {
		t.Errorf("below a.b.: %q, %v", found, err)
	}
	if found, err = store.Below(ctx, "none."); err != nil || len(found) != 0 {
		t.Errorf("below nothing: %q, %v", found, err)
	}
}

func testKeys(ctx context.Context, t *testing.T, store bus.KeyValue) {
	t.Helper()
	for _, key := range []string{"b", "a.2", "a-1", "c/1"} {
		if _, err := store.Put(ctx, key, []byte(key)); err != nil {
			t.Errorf("put %s: %v", key, err)
		}
	}
	want := []string{"a-1", "a.2", "b", "c/1", "key"}
	if keys, err := store.Keys(ctx); err != nil || !slices.Equal(keys, want) {
		t.Errorf("keys %v, %v; want %v", keys, err, want)
	}
}

func testStoreRace(ctx context.Context, t *testing.T, store bus.KeyValue) {
	t.Helper()
	revision := uint64(0)
	for round := range 10 {
		var winners atomic.Int32
		var won atomic.Uint64
		var racers sync.WaitGroup
		for range 6 {
			racers.Go(func() {
				next, err := store.Update(ctx, "race", []byte("x"), revision)
				switch {
				case err == nil:
					winners.Add(1)
					won.Store(next)
				case !errors.Is(err, bus.ErrConflict):
					t.Errorf("update: %v", err)
				}
			})
		}
		racers.Wait()
		if winners.Load() != 1 {
			t.Fatalf("round %d: %d winners", round, winners.Load())
		}
		revision = won.Load()
	}
}

func testArtifacts(t *testing.T, s System) {
	t.Run("Core", func(t *testing.T) { testArtifactStore(t, s.Core.Artifacts(), bus.ErrNotFound) })
	t.Run("Parts", func(t *testing.T) { testParts(t, s.Core.Artifacts()) })
	t.Run("Pending", func(t *testing.T) { testPending(t, s.Core.Artifacts()) })
	t.Run("PendingAtOnce", func(t *testing.T) { testPendingAtOnce(t, s.Core.Artifacts()) })
}

// testArtifactStore holds a store to its promises; absent is what it says of bytes
// that it does not hand out.
func testArtifactStore(t *testing.T, store bus.Artifacts, absent error) {
	t.Helper()
	ctx := deadline(t)
	large := make([]byte, 5<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(large)
	for name, content := range map[string][]byte{"empty": {}, "small": []byte("Grüße"), "5MiB": large} {
		sum := sha256.Sum256(content)
		want := hex.EncodeToString(sum[:])
		var put schemas.Artifact
		for range 2 {
			var err error
			put, err = store.Put(ctx, io.MultiReader(bytes.NewReader(content)), "text/x")
			if err != nil || put.SHA256 != want || put.Size != int64(len(content)) || put.MediaType != "text/x" {
				t.Fatalf("%s: put gave %+v, %v; want %s", name, put, err, want)
			}
		}
		if got := readArtifact(t, store, put); !bytes.Equal(got, content) {
			t.Errorf("%s: other bytes came back: %d of %d", name, len(got), len(content))
		}
	}
	for _, missing := range []string{strings.Repeat("0", 64), "", "../etc/passwd", "zz"} {
		if r, err := store.Get(ctx, schemas.Artifact{SHA256: missing}); !errors.Is(err, absent) {
			if err == nil {
				_ = r.Close()
			}
			t.Errorf("get %q gave %v, want %v", missing, err, absent)
		}
	}
	broken := errors.New("the disk is gone")
	if _, err := store.Put(ctx, io.MultiReader(strings.NewReader("half"), failingReader{broken}), ""); !errors.Is(err, broken) {
		t.Errorf("put from a failing reader gave %v", err)
	}
}

// testParts: every part of an artifact can be had by itself, in whatever order.
func testParts(t *testing.T, store bus.ArtifactStore) {
	t.Helper()
	ctx := deadline(t)
	content := make([]byte, 1<<20+7)
	source := rand.NewChaCha8([32]byte{2})
	_, _ = source.Read(content)
	whole, err := store.Put(ctx, bytes.NewReader(content), "")
	if err != nil {
		t.Fatal(err)
	}
	small, err := store.Put(ctx, strings.NewReader("small"), "")
	if err != nil {
		t.Fatal(err)
	}
	size := whole.Size
	for _, c := range []struct {
		offset int64
		limit  int
	}{{size - 7, 100}, {0, 10}, {600_000, 300_000}, {131_072, 131_072}, {131_071, 2}, {0, 2 << 20}, {size, 1}, {size + 1, 1}, {5, 0}} {
		from := min(c.offset, size)
		piece, told, err := store.Part(ctx, whole.SHA256, c.offset, c.limit)
		if want := content[from:min(from+int64(c.limit), size)]; err != nil || told != size || !bytes.Equal(piece, want) {
			t.Errorf("%d bytes at %d: %d of %d, %v", c.limit, c.offset, len(piece), told, err)
		}
	}
	if piece, told, err := store.Part(ctx, small.SHA256, 2, 2); string(piece) != "al" || told != 5 || err != nil {
		t.Errorf("of a small one: %q of %d, %v", piece, told, err)
	}
	for _, missing := range []string{strings.Repeat("0", 64), "", "zz"} {
		if _, _, err := store.Part(ctx, missing, 0, 1); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("part of %q: %v", missing, err)
		}
	}
}

// testPending: what was put as pending and is not kept is removed once it is old; all else stays.
func testPending(t *testing.T, store bus.ArtifactStore) {
	t.Helper()
	ctx := deadline(t)
	large := make([]byte, 1<<20)
	source := rand.NewChaCha8([32]byte{3})
	_, _ = source.Read(large)
	put := func(pending bool, content string) schemas.Artifact {
		t.Helper()
		how := store.Put
		if pending {
			how = store.PutPending
		}
		artifact, err := how(ctx, strings.NewReader(content), "text/x")
		sum := sha256.Sum256([]byte(content))
		if err != nil || artifact.SHA256 != hex.EncodeToString(sum[:]) || artifact.Size != int64(len(content)) || artifact.MediaType != "text/x" {
			t.Fatalf("put gave %+v, %v", artifact, err)
		}
		return artifact
	}
	forgotten, keptSoon, keptLate, putTwice := string(large), "kept at once", "kept when it is old", "put as pending, and then for good"
	stays := []string{keptSoon, keptLate, putTwice, "put for good", "put for good, and then as pending"}
	left := put(true, forgotten)
	put(true, forgotten)
	put(true, putTwice)
	put(false, putTwice)
	put(false, stays[3])
	put(false, stays[4])
	put(true, stays[4])
	for _, content := range stays[:2] {
		artifact := put(true, content)
		if err := store.Keep(ctx, artifact.SHA256); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Keep(ctx, strings.Repeat("0", 64)); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("keeping what was never put: %v", err)
	}
	if removed, err := store.RemovePending(ctx, time.Now().Add(-time.Hour)); removed != 0 || err != nil {
		t.Errorf("%d were removed within the hour: %v", removed, err)
	}
	if got := readArtifact(t, store, left); string(got) != forgotten {
		t.Errorf("of a pending artifact %d of %d bytes came back", len(got), len(forgotten))
	}
	if piece, size, err := store.Part(ctx, left.SHA256, 7, 9); string(piece) != forgotten[7:16] || size != left.Size || err != nil {
		t.Errorf("a piece of a pending artifact: %q of %d, %v", piece, size, err)
	}
	for round, want := range []int{1, 0} {
		if removed, err := store.RemovePending(ctx, time.Now().Add(time.Hour)); removed != want || err != nil {
			t.Errorf("round %d: %d were removed, want %d: %v", round, removed, want, err)
		}
	}
	if _, err := store.Get(ctx, left); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("what nothing kept can be read: %v", err)
	}
	if err := store.Keep(ctx, left.SHA256); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("what is gone was kept: %v", err)
	}
	for _, content := range stays {
		if got := readArtifact(t, store, put(true, content)); string(got) != content {
			t.Errorf("%q came back as %q", content, got)
		}
	}
	if got := readArtifact(t, store, put(true, forgotten)); string(got) != forgotten {
		t.Error("what was removed cannot be put again")
	}
}

// testPendingAtOnce: whichever of Keep and RemovePending comes first, what was kept can be read.
func testPendingAtOnce(t *testing.T, store bus.ArtifactStore) {
	t.Helper()
	ctx := deadline(t)
	for round := range 20 {
		artifact, err := store.PutPending(ctx, strings.NewReader("round "+strconv.Itoa(round)), "")
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		var kept, removed error
		both.Go(func() { kept = store.Keep(ctx, artifact.SHA256) })
		both.Go(func() { _, removed = store.RemovePending(ctx, time.Now().Add(time.Hour)) })
		both.Wait()
		if kept != nil && !errors.Is(kept, bus.ErrNotFound) || removed != nil {
			t.Fatalf("keep: %v, remove: %v", kept, removed)
		}
		if kept == nil {
			readArtifact(t, store, artifact)
		} else if _, err := store.Get(ctx, artifact); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("it was not kept, and can be read: %v", err)
		}
	}
}

func readArtifact(t *testing.T, store bus.Artifacts, artifact schemas.Artifact) []byte {
	t.Helper()
	r, err := store.Get(deadline(t), artifact)
	if err != nil {
		t.Fatalf("get %s: %v", artifact.SHA256, err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", artifact.SHA256, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close %s: %v", artifact.SHA256, err)
	}
	return got
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
