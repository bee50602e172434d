package jetstream

import (
	"context"
	"errors"
	"io"

	"podium/bus"
)

const objectChunks = "$O." + bus.ArtifactBucket + ".C." // followed by the object's NUID

// An object hands out the pieces of an artifact, one at a time and when it is asked
// for it: nothing at the server waits for a reader who is slow or has gone. The
// library reads by a consumer each.
type object struct {
	core    *Core
	subject string
	last    uint64 // the sequence of the newest piece
	left    uint32 // pieces behind it
}

// next returns the next piece; io.EOF is behind the last.
func (o *object) next(ctx context.Context) ([]byte, error) {
	if o.left == 0 {
		return nil, io.EOF
	}
	find := o.core.directNext
	if o.core.replicas > 1 {
		find = o.core.lookUp
	}
	found, err := find(ctx, bus.ArtifactStream, lookup{Sequence: o.last + 1, NextOf: o.subject})
	if errors.Is(err, bus.ErrNotFound) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	o.last = found.Sequence
	o.left--
	return found.Body, nil
}
