package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

const (
	artifactMemory = 4 << 20   // bytes kept in memory until the hash is known
	artifactPiece  = 128 << 10 // bytes of one message at most
	artifactPieces = 8         // on their way at a time
	forgetWait     = 2 * time.Second
)

// artifacts is the object store; an object's name is the SHA-256 of its bytes.
type artifacts struct{ core *Core }

// Artifacts implements bus.Core.
func (c *Core) Artifacts() bus.ArtifactStore { return artifacts{core: c} }

func (a artifacts) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	content, err := spool(r)
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read an artifact: %w", err)
	}
	defer content.discard()
	artifact := schemas.Artifact{SHA256: content.hash, Size: content.size, MediaType: mediaType}
	const op = "put an artifact"
	if _, err = a.findKept(ctx, op, artifact.SHA256); err == nil || !errors.Is(err, bus.ErrNotFound) {
		return artifact, err
	}
	if err = a.keepPending(ctx, artifact.SHA256); err == nil || !errors.Is(err, bus.ErrNotFound) {
		return artifact, err
	}
	if err = a.core.hold.allowed(op); err != nil {
		return schemas.Artifact{}, err
	}
	ctx, stop := a.core.Answered(ctx)
	defer stop()
	info, err := a.store(ctx, content)
	if err == nil {
		err = a.describe(ctx, descriptionOf(artifact.SHA256), info, anySequence)
	}
	if err != nil {
		return schemas.Artifact{}, wire.Classify(op, err)
	}
	return artifact, nil
}

// store stores the pieces of an object, and returns its description for describe. The library's own Put stores the
// description beside the last pieces, which a store that is nearly full may refuse: then the object is there for ever, and
// cannot be read. It makes a subscription for each, too.
func (a artifacts) store(ctx context.Context, content *spooled) (*jetstream.ObjectInfo, error) {
	id := rand.Text()
	count, err := a.putPieces(ctx, objectChunks+id, content.reader)
	if err != nil {
		a.forget(ctx, objectChunks+id)
		return nil, err
	}
	return &jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: content.hash, Opts: &jetstream.ObjectMetaOptions{ChunkSize: artifactPiece}},
		Bucket:     bus.ArtifactBucket, NUID: id, Size: uint64(content.size), Chunks: count, //nolint:gosec // not negative
		Digest: content.digest,
	}, nil
}

// putPieces stores what r yields, some pieces at a time, and returns when all of them
// are there.
func (a artifacts) putPieces(ctx context.Context, subject string, r io.Reader) (count uint32, err error) {
	var underWay []bus.Appending
	for last := false; !last; {
		piece := make([]byte, artifactPiece)
		size, err := io.ReadFull(r, piece)
		if last = bus.IsAny(err, io.EOF, io.ErrUnexpectedEOF); err != nil && !last {
			return 0, err
		}
		if size > 0 {
			underWay = append(underWay, bus.AppendAsync(a.core, bus.Message{Subject: subject, Body: piece[:size]}, bus.Expect{}))
			count++
		}
		for len(underWay) >= artifactPieces || last && len(underWay) > 0 {
			if _, err = underWay[0].Wait(ctx); err != nil {
				return 0, err
			}
			underWay = underWay[1:]
		}
	}
	return count, nil
}

// forget gives back the room of pieces that nothing speaks of. What it cannot only takes
// room.
func (a artifacts) forget(ctx context.Context, subject string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetWait)
	defer cancel()
	if stream, err := a.core.js.Stream(ctx, bus.ArtifactStream); err == nil {
		_ = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
}

// open returns the object store. It is looked up once: the server is asked for a
// whole description of its stream each time, which costs more than a small artifact.
func (a artifacts) open(ctx context.Context) (jetstream.ObjectStore, error) {
	if known := a.core.objects.Load(); known != nil {
		return *known, nil
	}
	objects, err := a.core.js.ObjectStore(ctx, bus.ArtifactBucket)
	if err != nil {
		return nil, wire.Classify("open the artifacts", err)
	}
	a.core.objects.Store(&objects)
	return objects, nil
}

// find looks up what the object store says of an artifact.
func (a artifacts) find(ctx context.Context, op, hash string) (*jetstream.ObjectInfo, error) {
	if !schemas.ValidHash(hash) {
		return nil, fmt.Errorf("%s: %w", op, bus.ErrNotFound)
	}
	info, err := a.findKept(ctx, op, hash)
	if errors.Is(err, bus.ErrNotFound) {
		info, _, err = a.findPending(ctx, op, hash)
	}
	return info, err
}

func (a artifacts) Get(ctx context.Context, reference schemas.Artifact) (io.ReadCloser, error) {
	info, err := a.find(ctx, "get an artifact", reference.SHA256)
	if err != nil {
		return nil, err
	}
	o := &object{core: a.core, subject: objectChunks + info.NUID, left: info.Chunks}
	pieces := &artifact.Pieces{Next: func() ([]byte, error) {
		piece, err := o.next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("read an artifact: %w", err)
		}
		return piece, err
	}}
	return artifact.Verify(pieces, reference.SHA256), nil
}

// A spooled artifact waits for its hash before it has a name.
type spooled struct {
	reader io.Reader
	file   *os.File // nil when all of it is in memory
	hash   string
	digest string // the same, as the object store writes it
	size   int64
}

// spool reads to the end. What is too large for memory goes into a temporary
// file that only this user can read (os.CreateTemp: 0600).
func spool(r io.Reader) (_ *spooled, err error) {
	sum := sha256.New()
	tee := io.TeeReader(r, sum)
	memory := new(bytes.Buffer)
	if sized, ok := r.(interface{ Len() int }); ok {
		memory.Grow(min(sized.Len(), artifactMemory) + bytes.MinRead)
	}
	size, err := io.CopyN(memory, tee, artifactMemory)
	s := &spooled{reader: memory, size: size}
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, err
	default:
		if err := s.overflow(memory, tee); err != nil {
			s.discard()
			return nil, err
		}
	}
	s.hash, s.digest = hex.EncodeToString(sum.Sum(nil)), jetstream.GetObjectDigestValue(sum)
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
