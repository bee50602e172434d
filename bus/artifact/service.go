package artifact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"podium/bus"
	"podium/schemas"
)

// maxParts is how many pieces the largest artifact has.
const maxParts = MaxSize / ChunkSize

// A Quota bounds what an agent has the core keep in the object store. What it
// refuses may be asked for again later: its errors are temporary.
type Quota interface {
	// Store decides about so many bytes for the object store.
	Store(agent string, size int64) error
}

// A Service is the core's half. An agent reads what it was given a grant for
// or has put itself. Whatever is asked for, no more than a piece of it is in memory.
type Service struct {
	store  bus.ArtifactStore
	grants *Grants
	clock  func() time.Time
	quota  Quota
	shares *artifactShares
}

// NewService returns the service of an object store.
func NewService(store bus.ArtifactStore, grants *Grants, clock func() time.Time, quota Quota) *Service {
	shares := &artifactShares{bytes: semaphore.NewWeighted(artifactBytes)}
	return &Service{store: store, grants: grants, clock: clock, quota: quota, shares: shares}
}

// Answer answers one request of an agent, frame by frame.
func (s *Service) Answer(ctx context.Context, agent string, body []byte) ([]byte, error) {
	if len(body) > maxFrame {
		return encodeFrame(artifactFrame{Error: errorCode(bus.ErrTooLarge)}, nil)
	}
	frame, content, err := decodeFrame(body)
	if err != nil {
		return nil, err
	}
	share := s.shares.of(agent)
	leave, err := s.shares.enter(ctx, share, frame.holds(len(content)))
	if err != nil {
		return encodeFrame(artifactFrame{Error: errorCode(err)}, nil)
	}
	defer leave()
	artifact, piece, err := s.do(ctx, agent, &frame, content)
	if err == nil {
		err = share.pace(ctx, len(piece))
	}
	switch {
	case bus.Temporary(err):
		return nil, err // the asker is told as of any service
	case err != nil:
		return encodeFrame(artifactFrame{Error: errorCode(err)}, nil)
	}
	return encodeFrame(artifactFrame{
		SHA256: artifact.SHA256, Size: artifact.Size, MediaType: artifact.MediaType, Grant: artifact.Grant,
	}, piece)
}

func (s *Service) do(ctx context.Context, agent string, frame *artifactFrame, content []byte) (schemas.Artifact, []byte, error) {
	switch frame.Op {
	case "put":
		if err := s.quota.Store(agent, int64(len(content))); err != nil {
			return schemas.Artifact{}, nil, err
		}
		artifact, err := s.put(ctx, agent, bytes.NewReader(content), frame.MediaType)
		return artifact, nil, err
	case "join":
		artifact, err := s.join(ctx, agent, frame)
		return artifact, nil, err
	case "get":
		return s.get(ctx, agent, frame)
	}
	return schemas.Artifact{}, nil, errors.New("the artifact service knows put, join and get")
}

// holds is how many bytes a request keeps in memory besides itself, at most.
func (f *artifactFrame) holds(content int) int64 {
	switch f.Op {
	case "put":
		return int64(2 * content) // a copy until its hash is known, another on its way to the store
	case "join":
		return spoolBytes + ChunkSize
	}
	return 2 * ChunkSize // the piece, and the answer that is made of it
}

func (s *Service) put(ctx context.Context, agent string, content io.Reader, mediaType string) (schemas.Artifact, error) {
	if sized, ok := content.(*bytes.Reader); ok && sized.Len() > ChunkSize {
		return schemas.Artifact{}, bus.ErrTooLarge
	}
	artifact, err := s.store.PutPending(ctx, content, mediaType)
	if err == nil {
		artifact.Grant = s.grants.Put(agent, artifact.SHA256)
	}
	return artifact, err
}

// join makes an artifact of pieces that the agent has put. Whether it may, and
// whether there is room, is known before any of them is read.
func (s *Service) join(ctx context.Context, agent string, frame *artifactFrame) (schemas.Artifact, error) {
	switch {
	case len(frame.Parts) > maxParts:
		return schemas.Artifact{}, bus.ErrTooLarge
	case len(frame.Grants) != len(frame.Parts):
		return schemas.Artifact{}, bus.ErrNotGranted
	}
	if err := s.learn(ctx, frame.Grants...); err != nil {
		return schemas.Artifact{}, err
	}
	known, total := make(map[string]int64, len(frame.Parts)), int64(0)
	for i, part := range frame.Parts {
		if !s.grants.HasPut(frame.Grants[i], agent, part) {
			return schemas.Artifact{}, bus.ErrNotGranted
		}
		size, seen := known[part]
		if !seen {
			var err error
			if _, size, err = s.store.Part(ctx, part, 0, 0); err != nil {
				return schemas.Artifact{}, err
			}
			known[part] = size
		}
		if size > ChunkSize {
			return schemas.Artifact{}, bus.ErrTooLarge
		}
		total += size
	}
	if err := s.quota.Store(agent, total); err != nil {
		return schemas.Artifact{}, err
	}
	rest := frame.Parts
	whole := &Pieces{Next: func() (piece []byte, err error) {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		piece, _, err = s.store.Part(ctx, rest[0], 0, ChunkSize)
		rest = rest[1:]
		return piece, err
	}}
	return s.put(ctx, agent, Verify(whole, frame.SHA256), frame.MediaType)
}

func (s *Service) get(ctx context.Context, agent string, frame *artifactFrame) (schemas.Artifact, []byte, error) {
	if err := s.learn(ctx, frame.Grant); err != nil {
		return schemas.Artifact{}, nil, err
	}
	if !s.grants.MayRead(frame.Grant, agent, frame.Request, frame.SHA256, s.clock()) {
		return schemas.Artifact{}, nil, bus.ErrNotGranted
	}
	outside := errors.New("the offset is outside of the artifact")
	if frame.Offset < 0 {
		return schemas.Artifact{}, nil, outside
	}
	piece, size, err := s.store.Part(ctx, frame.SHA256, frame.Offset, ChunkSize)
	if err == nil && frame.Offset > size {
		err = outside
	}
	return schemas.Artifact{SHA256: frame.SHA256, Size: size}, piece, err
}

// learn reads the keys again when a grant names one that another process has made.
func (s *Service) learn(ctx context.Context, grants ...string) error {
	if slices.ContainsFunc(grants, s.grants.Foreign) {
		return s.grants.Refresh(ctx)
	}
	return nil
}
