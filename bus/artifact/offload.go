package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
)

const (
	// MessageInlineLimit is the size in bytes above which a body stands in the object
	// store and the message holds a reference.
	MessageInlineLimit = 256 << 10
	// MaxSize is the size in bytes above which a body is refused.
	MaxSize = schemas.MaxBody
)

// Offload moves data over MessageInlineLimit to the object store and leaves a reference
// in the event. Smaller data stays. Over MaxSize it fails with ErrTooLarge.
func Offload(ctx context.Context, store bus.Artifacts, e *schemas.Event) error {
	switch {
	case len(e.Data) <= MessageInlineLimit:
		return nil
	case len(e.Data) > MaxSize:
		return fmt.Errorf("offload a %s: %w", e.Type, bus.ErrTooLarge)
	}
	artifact, err := store.Put(ctx, bytes.NewReader(e.Data), e.DataContentType)
	if err != nil {
		return fmt.Errorf("offload a %s: %w", e.Type, err)
	}
	e.Artifact, e.Data = &artifact, nil
	return nil
}

// DecodeWhole is Decode, with the data fetched when the message refers to it.
// Errors: those of Decode and of Resolve.
func DecodeWhole(ctx context.Context, store bus.Artifacts, m bus.Message) (schemas.Event, error) {
	e, err := binding.Decode(m)
	if err == nil {
		err = Resolve(ctx, store, &e)
	}
	return e, err
}

// Resolve fills in the data that an event refers to, and verifies its size and
// hash. An event that holds its data stays as it is. Errors: ErrNotFound, ErrNotGranted,
// ErrTooLarge over MaxSize, ErrCorrupt.
func Resolve(ctx context.Context, store bus.Artifacts, e *schemas.Event) error {
	if e.Artifact == nil {
		return nil
	}
	if e.Artifact.Size > MaxSize {
		return fmt.Errorf("resolve a %s: %w", e.Type, bus.ErrTooLarge)
	}
	content, err := readAll(ctx, store, *e.Artifact)
	if err != nil {
		return fmt.Errorf("resolve a %s: %w", e.Type, err)
	}
	if int64(len(content)) != e.Artifact.Size {
		return fmt.Errorf("resolve a %s: %d bytes instead of %d: %w", e.Type, len(content), e.Artifact.Size, bus.ErrCorrupt)
	}
	e.Data, e.Artifact = content, nil
	return nil
}

// readAll reads an artifact and verifies its hash. It reads no more than the artifact says
// to have, and one byte that shows that there is more: whoever refers to it has
// written that size, and room was made by it.
func readAll(ctx context.Context, store bus.Artifacts, artifact schemas.Artifact) (content []byte, err error) {
	opened, err := store.Get(ctx, artifact)
	if err != nil {
		return nil, err
	}
	content, err = io.ReadAll(io.LimitReader(Verify(opened, artifact.SHA256), artifact.Size+1))
	return content, errors.Join(err, opened.Close())
}

// Verify returns a reader of the same bytes that ends in ErrCorrupt instead of
// io.EOF when their SHA-256 is not the one named (hex).
func Verify(content io.Reader, sha256Hex string) io.ReadCloser {
	return io.NopCloser(&verifier{content: content, sum: sha256.New(), want: sha256Hex})
}

type verifier struct {
	content io.Reader
	sum     hash.Hash
	want    string
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.content.Read(p)
	_, _ = v.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return n, fmt.Errorf("artifact %s: %w", v.want, bus.ErrCorrupt)
	}
	return n, err
}

// Pieces reads pieces one behind the other, and holds one of them.
type Pieces struct {
	Next  func() ([]byte, error) // io.EOF is behind the last
	piece []byte
}

func (p *Pieces) fetch() (err error) {
	p.piece, err = p.Next()
	return err
}

func (p *Pieces) Read(to []byte) (int, error) {
	for len(p.piece) == 0 {
		if err := p.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(to, p.piece)
	p.piece = p.piece[n:]
	return n, nil
}
