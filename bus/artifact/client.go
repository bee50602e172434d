package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"podium/bus"
	"podium/bus/backoff"
	"podium/schemas"
)

// NewClient returns an agent's half of the artifact service, over its Ask, for
// one request: what that request names can be read with the grants in it, and what
// is put comes back with the grant that an answer has to repeat. It holds one
// artifact in memory while it is put; over MaxSize Put fails with ErrTooLarge.
// While the service has no room it tries again, until ctx ends.
func NewClient(ask func(ctx context.Context, service string, body []byte) ([]byte, error), request string) bus.Artifacts {
	return &client{ask: ask, request: request}
}

type client struct {
	ask     func(ctx context.Context, service string, body []byte) ([]byte, error)
	request string
}

func (a *client) call(ctx context.Context, frame artifactFrame, content []byte) (artifactFrame, []byte, error) {
	body, err := encodeFrame(frame, content)
	if err != nil {
		return artifactFrame{}, nil, err
	}
	var trouble backoff.Backoff
	for {
		reply, piece, err := a.once(ctx, frame.Op, body)
		if !errors.Is(err, errBusy) {
			return reply, piece, err
		}
		if trouble.Wait(ctx) != nil {
			return artifactFrame{}, nil, &bus.TemporaryError{Op: frame.Op + " an artifact", Err: err}
		}
	}
}

func (a *client) once(ctx context.Context, op string, body []byte) (artifactFrame, []byte, error) {
	answer, err := a.ask(ctx, bus.ServiceArtifact, body)
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
		return artifactFrame{}, nil, fmt.Errorf("%s an artifact: %w", op, known)
	}
	return artifactFrame{}, nil, fmt.Errorf("%s an artifact: %s", op, reply.Error)
}

func (a *client) Put(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	content, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read the artifact: %w", err)
	}
	if len(content) > MaxSize {
		return schemas.Artifact{}, fmt.Errorf("put an artifact: %w", bus.ErrTooLarge)
	}
	put := func(piece []byte) (artifactFrame, error) {
		reply, _, err := a.call(ctx, artifactFrame{Op: "put", MediaType: mediaType}, piece)
		return reply, err
	}
	var reply artifactFrame
	if len(content) <= ChunkSize {
		reply, err = put(content)
	} else {
		sum := sha256.Sum256(content)
		whole := artifactFrame{Op: "join", MediaType: mediaType, SHA256: hex.EncodeToString(sum[:])}
		for rest := content; len(rest) > 0; rest = rest[min(ChunkSize, len(rest)):] {
			part, err := put(rest[:min(ChunkSize, len(rest))])
			if err != nil {
				return schemas.Artifact{}, err
			}
			whole.Parts, whole.Grants = append(whole.Parts, part.SHA256), append(whole.Grants, part.Grant)
		}
		reply, _, err = a.call(ctx, whole, nil)
	}
	if err != nil {
		return schemas.Artifact{}, err
	}
	return schemas.Artifact{SHA256: reply.SHA256, Size: reply.Size, MediaType: mediaType, Grant: reply.Grant}, nil
}

// Get implements Artifacts. The first piece is fetched at once.
func (a *client) Get(ctx context.Context, artifact schemas.Artifact) (io.ReadCloser, error) {
	offset, size := int64(0), int64(1)
	r := &Pieces{Next: func() ([]byte, error) {
		if offset >= size {
			return nil, io.EOF
		}
		reply, piece, err := a.call(ctx, artifactFrame{
			Op: "get", Request: a.request, SHA256: artifact.SHA256, Grant: artifact.Grant, Offset: offset,
		}, nil)
		if err == nil && len(piece) == 0 && reply.Size > offset {
			err = io.ErrUnexpectedEOF
		}
		size = reply.Size
		offset += int64(len(piece))
		return piece, err
	}}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	return Verify(r, artifact.SHA256), nil
}
