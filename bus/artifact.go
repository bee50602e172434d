package bus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"podium/schemas"
)

// ArtifactChunk is the size in bytes of the largest piece that the artifact
// service takes or gives at once.
const ArtifactChunk = 512 << 10

// An artifactFrame is the head of every message of the artifact service: one
// line of JSON, then the bytes that it speaks of.
//
//	put  bytes          → the artifact; at most ArtifactChunk bytes
//	join parts, sha256  → the artifact made of parts that were put before
//	get  sha256, offset → size of the whole, and at most ArtifactChunk bytes
//
// No step depends on the one before having met the same process of the core.
type artifactFrame struct {
	Op        string   `json:"op,omitzero"`
	MediaType string   `json:"media_type,omitzero"`
	SHA256    string   `json:"sha256,omitzero"`
	Offset    int64    `json:"offset,omitzero"`
	Parts     []string `json:"parts,omitzero"`
	// In answers only.
	Size  int64  `json:"size,omitzero"`
	Error string `json:"error,omitzero"` // a key of artifactErrors, or a sentence
}

func encodeFrame(frame artifactFrame, content []byte) ([]byte, error) {
	head, err := schemas.Marshal(frame)
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), content...), nil
}

func decodeFrame(body []byte) (frame artifactFrame, content []byte, err error) {
	head, content, ok := bytes.Cut(body, []byte{'\n'})
	if !ok {
		return frame, nil, errors.New("a frame of the artifact service begins with one line of JSON")
	}
	return frame, content, schemas.Unmarshal(head, &frame)
}

// artifactErrors are the errors that keep their meaning on the way to the asker.
func artifactErrors() map[string]error {
	return map[string]error{"not_found": ErrNotFound, "too_large": ErrTooLarge, "full": ErrFull, "corrupt": ErrCorrupt}
}

// artifactService is the core's half. An agent reads what it can name by its full hash.
type artifactService struct {
	store Artifacts

	mu   sync.Mutex
	read *recent[string, []byte] // so that the pieces of a large artifact are one read
}

func newArtifactService(store Artifacts) *artifactService {
	return &artifactService{store: store, read: newRecent[string, []byte](16, ArtifactLimit)}
}

func (s *artifactService) answer(ctx context.Context, _ string, body []byte) ([]byte, error) {
	frame, content, err := decodeFrame(body)
	if err != nil {
		return nil, err
	}
	var artifact schemas.Artifact
	var piece []byte
	switch frame.Op {
	case "put":
		if len(content) > ArtifactChunk {
			err = ErrTooLarge
			break
		}
		artifact, err = s.store.Put(ctx, bytes.NewReader(content), frame.MediaType)
	case "join":
		artifact, err = s.join(ctx, frame)
	case "get":
		artifact, piece, err = s.get(ctx, frame)
	default:
		err = errors.New("the artifact service knows put, join and get")
	}
	if err != nil {
		return encodeFrame(artifactFrame{Error: errorCode(err)}, nil)
	}
	return encodeFrame(artifactFrame{SHA256: artifact.SHA256, Size: artifact.Size, MediaType: artifact.MediaType}, piece)
}

func errorCode(err error) string {
	for code, known := range artifactErrors() {
		if errors.Is(err, known) {
			return code
		}
	}
	return err.Error()
}

func (s *artifactService) join(ctx context.Context, frame artifactFrame) (schemas.Artifact, error) {
	if len(frame.Parts) > ArtifactLimit/ArtifactChunk {
		return schemas.Artifact{}, ErrTooLarge
	}
	var whole bytes.Buffer
	for _, part := range frame.Parts {
		content, err := readAll(ctx, s.store, part)
		if err != nil {
			return schemas.Artifact{}, err
		}
		if whole.Len()+len(content) > ArtifactLimit {
			return schemas.Artifact{}, ErrTooLarge
		}
		whole.Write(content)
	}
	if sum := sha256.Sum256(whole.Bytes()); hex.EncodeToString(sum[:]) != frame.SHA256 {
		return schemas.Artifact{}, ErrCorrupt
	}
	return s.store.Put(ctx, &whole, frame.MediaType)
}

func (s *artifactService) get(ctx context.Context, frame artifactFrame) (schemas.Artifact, []byte, error) {
	if !schemas.ValidHash(frame.SHA256) {
		return schemas.Artifact{}, nil, ErrNotFound
	}
	s.mu.Lock()
	whole, ok := s.read.get(frame.SHA256)
	s.mu.Unlock()
	if !ok {
		var err error
		if whole, err = readAll(ctx, s.store, frame.SHA256); err != nil {
			return schemas.Artifact{}, nil, err
		}
		if len(whole) > ArtifactChunk {
			s.mu.Lock()
			s.read.put(frame.SHA256, whole, len(whole))
			s.mu.Unlock()
		}
	}
	size := int64(len(whole))
	if frame.Offset < 0 || frame.Offset > size {
		return schemas.Artifact{}, nil, errors.New("the offset is outside of the artifact")
	}
	piece := whole[frame.Offset:min(frame.Offset+ArtifactChunk, size)]
	return schemas.Artifact{SHA256: frame.SHA256, Size: size}, piece, nil
}

// ServiceArtifacts is an agent's half of the artifact service, over its Ask. It
// holds one artifact in memory while it is put; over ArtifactLimit Put fails
// with ErrTooLarge.
func ServiceArtifacts(ask func(ctx context.Context, service string, body []byte) ([]byte, error)) Artifacts {
	return &serviceArtifacts{ask: ask}
}

type serviceArtifacts struct {
	ask func(ctx context.Context, service string, body []byte) ([]byte, error)
}

func (a *serviceArtifacts) call(ctx context.Context, frame artifactFrame, content []byte) (artifactFrame, []byte, error) {
	body, err := encodeFrame(frame, content)
	if err != nil {
		return artifactFrame{}, nil, err
	}
	answer, err := a.ask(ctx, ServiceArtifact, body)
	if err != nil {
		return artifactFrame{}, nil, err
	}
	reply, piece, err := decodeFrame(answer)
	switch {
	case err != nil:
		return artifactFrame{}, nil, err
	case reply.Error == "":
		return reply, piece, nil
	}
	if known, ok := artifactErrors()[reply.Error]; ok {
		return artifactFrame{}, nil, fmt.Errorf("%s an artifact: %w", frame.Op, known)
	}
	return artifactFrame{}, nil, fmt.Errorf("%s an artifact: %s", frame.Op, reply.Error)
}

// Put implements Artifacts.
func (a *serviceArtifacts) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	content, err := io.ReadAll(io.LimitReader(r, ArtifactLimit+1))
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read the artifact: %w", err)
	}
	if len(content) > ArtifactLimit {
		return schemas.Artifact{}, fmt.Errorf("put an artifact: %w", ErrTooLarge)
	}
	put := func(piece []byte) (artifactFrame, error) {
		reply, _, err := a.call(ctx, artifactFrame{Op: "put", MediaType: mediaType}, piece)
		return reply, err
	}
	var reply artifactFrame
	if len(content) <= ArtifactChunk {
		reply, err = put(content)
	} else {
		sum := sha256.Sum256(content)
		whole := artifactFrame{Op: "join", MediaType: mediaType, SHA256: hex.EncodeToString(sum[:])}
		for rest := content; len(rest) > 0; rest = rest[min(ArtifactChunk, len(rest)):] {
			part, err := put(rest[:min(ArtifactChunk, len(rest))])
			if err != nil {
				return schemas.Artifact{}, err
			}
			whole.Parts = append(whole.Parts, part.SHA256)
		}
		reply, _, err = a.call(ctx, whole, nil)
	}
	if err != nil {
		return schemas.Artifact{}, err
	}
	return schemas.Artifact{SHA256: reply.SHA256, Size: reply.Size, MediaType: mediaType}, nil
}

// Get implements Artifacts. The first piece is fetched at once.
func (a *serviceArtifacts) Get(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	r := &pieces{ctx: ctx, artifacts: a, sha256: sha256}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	return Verify(r, sha256), nil
}

// pieces reads an artifact piece by piece.
type pieces struct {
	ctx       context.Context //nolint:containedctx // io.Reader has no room for the one of Get
	artifacts *serviceArtifacts
	sha256    string
	piece     []byte
	offset    int64 // of the end of piece
	size      int64
}

func (r *pieces) fetch() error {
	reply, piece, err := r.artifacts.call(r.ctx, artifactFrame{Op: "get", SHA256: r.sha256, Offset: r.offset}, nil)
	if err != nil {
		return err
	}
	if len(piece) == 0 && reply.Size > r.offset {
		return io.ErrUnexpectedEOF
	}
	r.piece, r.size = piece, reply.Size
	r.offset += int64(len(piece))
	return nil
}

// Read implements io.Reader.
func (r *pieces) Read(p []byte) (int, error) {
	if len(r.piece) == 0 {
		if r.offset >= r.size {
			return 0, io.EOF
		}
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

// Close implements io.Closer.
func (r *pieces) Close() error { return nil }
