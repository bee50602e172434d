package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"podium/bus"
	"podium/schemas"
)

// validKey is what nats-server takes as a key.
var validKey = regexp.MustCompile(`^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$`)

type value struct {
	bytes    []byte
	revision uint64
}

// A store is one bucket; its revisions grow over all keys.
type store struct {
	missing string // the name of a bucket that does not exist

	mu       sync.Mutex
	values   map[string]value
	revision uint64
}

func (s *store) check(key string) error {
	switch {
	case s.missing != "":
		return fmt.Errorf("bucket %s: %w", s.missing, bus.ErrNotFound)
	case !validKey.MatchString(key):
		return fmt.Errorf("%q cannot be a key", key)
	}
	return nil
}

// Get implements bus.KeyValue.
func (s *store) Get(_ context.Context, key string) ([]byte, uint64, error) {
	if err := s.check(key); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	if !ok {
		return nil, 0, fmt.Errorf("key %s: %w", key, bus.ErrNotFound)
	}
	return bytes.Clone(v.bytes), v.revision, nil
}

// Put implements bus.KeyValue.
func (s *store) Put(_ context.Context, key string, content []byte) (uint64, error) {
	if err := s.check(key); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(key, content), nil
}

// Update implements bus.KeyValue.
func (s *store) Update(_ context.Context, key string, content []byte, revision uint64) (uint64, error) {
	if err := s.check(key); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key].revision != revision {
		return 0, fmt.Errorf("key %s: %w", key, bus.ErrConflict)
	}
	return s.set(key, content), nil
}

func (s *store) set(key string, content []byte) uint64 {
	s.revision++
	s.values[key] = value{bytes: bytes.Clone(content), revision: s.revision}
	return s.revision
}

// Delete implements bus.KeyValue.
func (s *store) Delete(_ context.Context, key string) error {
	if err := s.check(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	delete(s.values, key)
	return nil
}

// Keys implements bus.KeyValue.
func (s *store) Keys(context.Context) ([]string, error) {
	if s.missing != "" {
		return nil, fmt.Errorf("bucket %s: %w", s.missing, bus.ErrNotFound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values)), nil
}

// Below implements bus.KeyValue.
func (s *store) Below(_ context.Context, prefix string) (map[string][]byte, error) {
	if s.missing != "" {
		return nil, fmt.Errorf("bucket %s: %w", s.missing, bus.ErrNotFound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string][]byte{}
	for key, v := range s.values {
		if strings.HasPrefix(key, prefix) {
			found[key] = bytes.Clone(v.bytes)
		}
	}
	return found, nil
}

type artifacts struct {
	maxBytes int64 // -1 is no limit

	now func() time.Time

	mu       sync.Mutex
	contents map[string][]byte    // by SHA-256 (hex)
	pending  map[string]time.Time // since when, by the same
	bytes    int64
}

// Put implements bus.Artifacts.
func (a *artifacts) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	artifact, err := a.put(ctx, r, mediaType, false)
	if err != nil {
		return artifact, err
	}
	return artifact, a.Keep(ctx, artifact.SHA256)
}

// PutPending implements bus.ArtifactStore.
func (a *artifacts) PutPending(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	return a.put(ctx, r, mediaType, true)
}

func (a *artifacts) put(ctx context.Context, r io.Reader, mediaType string, pending bool) (schemas.Artifact, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read the artifact: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return schemas.Artifact{}, err
	}
	sum := sha256.Sum256(content)
	key := hex.EncodeToString(sum[:])
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.contents[key]
	if _, is := a.pending[key]; pending && (is || !known) {
		a.pending[key] = a.now()
	}
	if !known {
		if a.maxBytes >= 0 && a.bytes+int64(len(content)) > a.maxBytes {
			return schemas.Artifact{}, fmt.Errorf("put an artifact: %w", bus.ErrFull)
		}
		a.contents[key] = content
		a.bytes += int64(len(content))
	}
	return schemas.Artifact{SHA256: key, Size: int64(len(content)), MediaType: mediaType}, nil
}

// Keep implements bus.ArtifactStore.
func (a *artifacts) Keep(_ context.Context, sha256 string) error {
	if _, err := a.find(sha256); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, sha256)
	return nil
}

// RemovePending implements bus.ArtifactStore.
func (a *artifacts) RemovePending(_ context.Context, before time.Time) (removed int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, since := range a.pending {
		if since.Before(before) {
			a.bytes -= int64(len(a.contents[key]))
			delete(a.contents, key)
			delete(a.pending, key)
			removed++
		}
	}
	return removed, nil
}

// Get implements bus.Artifacts.
func (a *artifacts) Get(_ context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	content, err := a.find(artifact.SHA256)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Part implements bus.ArtifactStore.
func (a *artifacts) Part(_ context.Context, sha256 string, offset int64, limit int) ([]byte, int64, error) {
	content, err := a.find(sha256)
	size := int64(len(content))
	from := min(max(offset, 0), size)
	return bytes.Clone(content[from:min(from+int64(limit), size)]), size, err
}

// state is that of the stream that a server would keep them in, as far as it is asked for.
func (a *artifacts) state() bus.StreamState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return bus.StreamState{Messages: uint64(len(a.contents)), Bytes: uint64(a.bytes), MaxBytes: a.maxBytes} //nolint:gosec // not negative
}

func (a *artifacts) find(sha256 string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	content, ok := a.contents[sha256]
	if !ok {
		return nil, fmt.Errorf("artifact %s: %w", sha256, bus.ErrNotFound)
	}
	return content, nil
}
