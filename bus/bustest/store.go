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
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"podium/bus"
)

func testStore(t *testing.T, s System) {
	for _, bucket := range []string{bus.AgentBucket, bus.MailboxBucket, bus.LeaseBucket} {
		t.Run(bucket, func(t *testing.T) { testBucket(t, s.Core.Store(bucket)) })
	}
	t.Run("BucketsAreApart", func(t *testing.T) {
		ctx := deadline(t)
		if _, err := s.Core.Store(bus.AgentBucket).Put(ctx, "apart", []byte("agents")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Core.Store(bus.MailboxBucket).Get(ctx, "apart"); !errors.Is(err, bus.ErrNotFound) {
			t.Errorf("a key of one bucket in another: %v, want ErrNotFound", err)
		}
	})
}

func testBucket(t *testing.T, store bus.Store) {
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
}

func testKeys(ctx context.Context, t *testing.T, store bus.Store) {
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

func testStoreRace(ctx context.Context, t *testing.T, store bus.Store) {
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
	t.Run("Core", func(t *testing.T) { testArtifactStore(t, s.Core.Artifacts()) })
}

func testArtifactStore(t *testing.T, store bus.Artifacts) {
	t.Helper()
	ctx := deadline(t)
	large := make([]byte, 5<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(large)
	for name, content := range map[string][]byte{"empty": {}, "small": []byte("Grüße"), "5MiB": large} {
		sum := sha256.Sum256(content)
		want := hex.EncodeToString(sum[:])
		for range 2 {
			put, err := store.Put(ctx, io.MultiReader(bytes.NewReader(content)), "text/x")
			if err != nil || put.SHA256 != want || put.Size != int64(len(content)) || put.MediaType != "text/x" {
				t.Fatalf("%s: put gave %+v, %v; want %s", name, put, err, want)
			}
		}
		if got := readArtifact(t, store, want); !bytes.Equal(got, content) {
			t.Errorf("%s: other bytes came back: %d of %d", name, len(got), len(content))
		}
	}
	for _, missing := range []string{strings.Repeat("0", 64), "", "../etc/passwd", "zz"} {
		if r, err := store.Get(ctx, missing); !errors.Is(err, bus.ErrNotFound) {
			if err == nil {
				_ = r.Close()
			}
			t.Errorf("get %q gave %v, want ErrNotFound", missing, err)
		}
	}
	broken := errors.New("the disk is gone")
	if _, err := store.Put(ctx, io.MultiReader(strings.NewReader("half"), failingReader{broken}), ""); !errors.Is(err, broken) {
		t.Errorf("put from a failing reader gave %v", err)
	}
}

func readArtifact(t *testing.T, store bus.Artifacts, hash string) []byte {
	t.Helper()
	r, err := store.Get(deadline(t), hash)
	if err != nil {
		t.Fatalf("get %s: %v", hash, err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", hash, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close %s: %v", hash, err)
	}
	return got
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
