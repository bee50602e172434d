package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"podium/bus"
)

const objectChunks = "$O." + bus.ArtifactBucket + ".C." // followed by the object's NUID

// An object reads the pieces of an artifact, one at a time and when it is asked
// for it: nothing at the server waits for a reader who is slow or has gone. The
// library reads by a consumer each.
type object struct {
	ctx     context.Context //nolint:containedctx // io.Reader has no room for the one of Get
	core    *Core
	subject string
	last    uint64 // the sequence of piece
	left    uint32 // pieces behind it
	piece   []byte
}

func (o *object) Read(p []byte) (int, error) {
	for len(o.piece) == 0 {
		if o.left == 0 {
			return 0, io.EOF
		}
		if err := o.fetch(); err != nil {
			return 0, fmt.Errorf("read an artifact: %w", err)
		}
	}
	n := copy(p, o.piece)
	o.piece = o.piece[n:]
	return n, nil
}

func (o *object) fetch() error {
	find := o.core.directNext
	if o.core.replicas > 1 {
		find = o.core.lookUp
	}
	found, err := find(o.ctx, bus.ArtifactStream, lookup{Sequence: o.last + 1, NextOf: o.subject})
	if errors.Is(err, bus.ErrNotFound) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	o.piece, o.last = found.Body, found.Sequence
	o.left--
	return nil
}

func (o *object) Close() error {
	o.piece, o.left = nil, 0
	return nil
}
