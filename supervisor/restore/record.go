package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"podium/bus"
	"podium/bus/artifact"
	"podium/schemas"
)

// A Record is a record of a session with its sequence in the shard, and what leads from it
// to those before it.
type Record struct {
	*schemas.Record

	Sequence, Previous uint64
	Trail              *schemas.Trail
}

// ReadRecord reads a record, and its body byte for byte, which is what the next one's chain
// is about.
func ReadRecord(ctx context.Context, artifacts bus.Artifacts, message bus.Message) (Record, []byte, error) {
	event, err := artifact.DecodeWhole(ctx, artifacts, message)
	if err != nil {
		return Record{}, nil, err
	}
	var record schemas.Record
	if err = schemas.Unmarshal(event.Data, &record); err != nil {
		return Record{}, nil, err
	}
	return Record{Record: &record, Sequence: message.Sequence, Previous: event.PreviousSequence, Trail: event.Trail}, event.Data, nil
}

// A Digest is the SHA-256 of a record's body; zero before the first record.
type Digest [sha256.Size]byte

// Hash returns the digest of a record's body.
func Hash(body []byte) Digest { return sha256.Sum256(body) }

// String returns it in hexadecimal, as records have it; zero is empty.
func (d Digest) String() string {
	if d == (Digest{}) {
		return ""
	}
	return hex.EncodeToString(d[:])
}
