package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/schemas"
)

const (
	artifactMemory = 4 << 20 // bytes kept in memory until the hash is known
	hashLength     = 2 * sha256.Size
)

// artifacts is the object store; an object's name is the SHA-256 of its bytes.
type artifacts struct{ core *Core }

// Artifacts implements bus.Core.
func (c *Core) Artifacts() bus.Artifacts { return artifacts{core: c} }

// Put implements bus.Artifacts.
func (a artifacts) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	content, err := spool(r)
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read an artifact: %w", err)
	}
	defer content.discard()
	artifact := schemas.Artifact{SHA256: content.hash, Size: content.size, MediaType: mediaType}
	objects, err := a.core.js.ObjectStore(ctx, bus.ArtifactBucket)
	if err != nil {
		return schemas.Artifact{}, classify("open the artifacts", err)
	}
	_, err = objects.GetInfo(ctx, artifact.SHA256)
	if err == nil {
		return artifact, nil
	}
	if !errors.Is(err, jetstream.ErrObjectNotFound) {
		return schemas.Artifact{}, classify("look for an artifact", err)
	}
	if _, err = objects.Put(ctx, jetstream.ObjectMeta{Name: artifact.SHA256}, content.reader); err != nil {
		return schemas.Artifact{}, classify("put an artifact", err)
	}
	return artifact, nil
}

// Get implements bus.Artifacts.
func (a artifacts) Get(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	if len(sha256) != hashLength {
		return nil, fmt.Errorf("get an artifact: %w", bus.ErrNotFound)
	}
	objects, err := a.core.js.ObjectStore(ctx, bus.ArtifactBucket)
	if err != nil {
		return nil, classify("open the artifacts", err)
	}
	object, err := objects.Get(ctx, sha256)
	if err != nil {
		return nil, classifyStore("get an artifact", notFound(err))
	}
	return bus.Verify(object, sha256), nil
}

// A spooled artifact waits for its hash before it has a name.
type spooled struct {
	reader io.Reader
	file   *os.File // nil when all of it is in memory
	hash   string
	size   int64
}

// spool reads to the end. What is too large for memory goes into a temporary
// file that only this user can read (os.CreateTemp: 0600).
func spool(r io.Reader) (_ *spooled, err error) {
	sum := sha256.New()
	tee := io.TeeReader(r, sum)
	var memory bytes.Buffer
	size, err := io.CopyN(&memory, tee, artifactMemory)
	s := &spooled{reader: &memory, size: size}
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, err
	default:
		if err := s.overflow(&memory, tee); err != nil {
			s.discard()
			return nil, err
		}
	}
	s.hash = hex.EncodeToString(sum.Sum(nil))
	return s, nil
}

func (s *spooled) overflow(memory *bytes.Buffer, rest io.Reader) error {
	file, err := os.CreateTemp("", "podium-artifact-*")
	if err != nil {
		return err
	}
	s.file = file
	if s.size, err = io.Copy(file, io.MultiReader(memory, rest)); err != nil {
		return err
	}
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.reader = file
	return nil
}

func (s *spooled) discard() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
