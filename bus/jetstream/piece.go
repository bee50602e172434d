package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/schemas"
)

// maxIndexes is how many artifacts the places of their chunks are kept of: with at
// most 512 chunks each, 8 MiB.
const maxIndexes = 1024

// A chunk is one message of an object and where its bytes begin in it.
type chunk struct {
	sequence uint64
	offset   int64
}

// chunkIndex remembers where chunks are, so that the pieces of a large artifact
// are not a read from its beginning each.
type chunkIndex struct {
	mu      sync.Mutex
	objects map[string][]chunk // by the subject of the chunks, each list from the first on
}

// known returns what is known of an object's chunks; it is not to be changed.
func (x *chunkIndex) known(subject string) []chunk {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.objects[subject]
}

// learn keeps the longer list. When there are too many, all are forgotten.
func (x *chunkIndex) learn(subject string, chunks []chunk) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.objects == nil || len(x.objects) >= maxIndexes {
		x.objects = make(map[string][]chunk)
	}
	if len(chunks) > len(x.objects[subject]) {
		x.objects[subject] = chunks
	}
}

// Part implements bus.ArtifactStore: it gets the messages that hold the piece, and
// makes no consumer.
func (a artifacts) Part(ctx context.Context, sha256 string, offset int64, limit int) ([]byte, int64, error) {
	if !schemas.ValidHash(sha256) {
		return nil, 0, fmt.Errorf("get a piece of an artifact: %w", bus.ErrNotFound)
	}
	objects, err := a.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	info, err := objects.GetInfo(ctx, sha256)
	if err != nil {
		return nil, 0, classifyStore("get a piece of an artifact", notFound(err))
	}
	size := int64(info.Size) //nolint:gosec // below 64 MiB
	limit = int(min(int64(limit), size-offset))
	if limit <= 0 || offset < 0 {
		return nil, size, nil
	}
	stream, err := a.stream(ctx)
	if err != nil {
		return nil, 0, err
	}
	piece, err := a.collect(ctx, stream, "$O."+bus.ArtifactBucket+".C."+info.NUID, offset, limit)
	if err != nil {
		return nil, 0, classify("get a piece of an artifact", err)
	}
	return piece, size, nil
}

// stream returns the stream behind the object store. It is looked up once, as the
// store is.
func (a artifacts) stream(ctx context.Context) (jetstream.Stream, error) {
	if known := a.core.pieces.Load(); known != nil {
		return *known, nil
	}
	stream, err := a.core.js.Stream(ctx, "OBJ_"+bus.ArtifactBucket) // as the library names it
	if err != nil {
		return nil, classify("open the artifacts", err)
	}
	a.core.pieces.Store(&stream)
	return stream, nil
}

// errChunkMissing reports an object of which a chunk is not there, or not yet where
// it was looked for.
var errChunkMissing = errors.New("a chunk of the artifact is not there")

// collect reads from the last known chunk that begins at or before the offset.
func (a artifacts) collect(ctx context.Context, stream jetstream.Stream, subject string, offset int64, limit int) ([]byte, error) {
	known := a.core.chunks.known(subject)
	at, found := slices.BinarySearchFunc(known, offset, func(c chunk, offset int64) int { return int(c.offset - offset) })
	if !found {
		at--
	}
	chunks := known[:max(at, 0):max(at, 0)]
	next := chunk{sequence: 1}
	if at >= 0 && at < len(known) {
		next = known[at]
	}
	piece := make([]byte, 0, limit)
	for len(piece) < limit {
		message, err := stream.GetMsg(ctx, next.sequence, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, &bus.TemporaryError{Op: "get a piece of an artifact", Err: errChunkMissing}
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk{sequence: message.Sequence, offset: next.offset})
		if skip := offset + int64(len(piece)) - next.offset; skip < int64(len(message.Data)) {
			piece = append(piece, message.Data[skip:min(int64(len(message.Data)), skip+int64(limit-len(piece)))]...)
		}
		next = chunk{sequence: message.Sequence + 1, offset: next.offset + int64(len(message.Data))}
	}
	a.core.chunks.learn(subject, chunks)
	return piece, nil
}
