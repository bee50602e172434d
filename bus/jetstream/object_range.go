package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jellydator/ttlcache/v3"
	"github.com/nats-io/nats.go/jetstream"
)

// maxIndexes is how many artifacts the places of their chunks are kept of: with at
// most 512 chunks each, 8 MiB.
const maxIndexes = 1024

// A chunk is one message of an object and where its bytes begin in it.
type chunk struct {
	sequence uint64
	offset   int64
}

// newChunkIndex remembers where chunks are, by the subject of an object's, each list from the
// first on, so that the pieces of a large artifact are not a read from its beginning each.
func newChunkIndex() *ttlcache.Cache[string, []chunk] {
	return ttlcache.New(ttlcache.WithCapacity[string, []chunk](maxIndexes))
}

// chunksOf returns what is known of an object's chunks; it is not to be changed.
func (c *Core) chunksOf(subject string) []chunk {
	if remembered := c.chunks.Get(subject); remembered != nil {
		return remembered.Value()
	}
	return nil
}

func (a artifacts) Part(ctx context.Context, sha256 string, offset int64, limit int) ([]byte, int64, error) {
	const op = "get a piece of an artifact"
	info, err := a.find(ctx, op, sha256)
	if err != nil {
		return nil, 0, err
	}
	size := int64(info.Size) //nolint:gosec // below 64 MiB
	limit = int(min(int64(limit), size-offset))
	if limit <= 0 || offset < 0 {
		return nil, size, nil
	}
	piece, err := a.collect(ctx, info, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", op, err)
	}
	return piece, size, nil
}

// collect reads from the last known chunk that begins at or before the offset.
func (a artifacts) collect(ctx context.Context, info *jetstream.ObjectInfo, offset int64, limit int) ([]byte, error) {
	o := &object{core: a.core, subject: objectChunks + info.NUID, left: info.Chunks}
	known := a.core.chunksOf(o.subject)
	at, found := slices.BinarySearchFunc(known, offset, func(c chunk, offset int64) int { return cmp.Compare(c.offset, offset) })
	if !found {
		at--
	}
	begins := int64(0) // of the next chunk
	at = max(at, 0)
	if at < len(known) {
		begins, o.last, o.left = known[at].offset, known[at].sequence-1, o.left-uint32(at) //nolint:gosec // at most 512
	}
	chunks := known[:at:at]
	piece := make([]byte, 0, limit)
	for len(piece) < limit {
		next, err := o.next(ctx)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk{sequence: o.last, offset: begins})
		size := int64(len(next))
		if skip := offset + int64(len(piece)) - begins; skip < size {
			piece = append(piece, next[skip:min(size, skip+int64(limit-len(piece)))]...)
		}
		begins += size
	}
	if len(chunks) > len(a.core.chunksOf(o.subject)) { // others may have read further meanwhile
		a.core.chunks.Set(o.subject, chunks, ttlcache.NoTTL)
	}
	return piece, nil
}
