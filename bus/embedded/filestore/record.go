package filestore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/minio/highwayhash"
)

const (
	recordHeader  = 22 // bytes: length, sequence, time, length of the subject
	headersLength = 4
	checksumSize  = 8
	maxRecord     = 32 << 20 // what a server takes for possible

	hasHeaders = 1 << 31 // of a record's length
	erased     = 1 << 63 // of its sequence: the message was removed
	tombstone  = 1 << 62 // the message of this sequence, elsewhere, was removed
)

// A Record is one message in a block.
type Record struct {
	Sequence uint64 // with what is said of it in its two highest bits
	Time     int64  // nanoseconds since 1970, UTC
}

// A decoder reads the records of one block.
type decoder struct {
	sum hash.Hash64
}

// newDecoder is for one block: the key of its checksums is made of the stream's name
// and the block's index.
func newDecoder(stream string, block uint32) (*decoder, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, block))
	sum, err := highwayhash.New64(key[:])
	return &decoder{sum: sum}, err
}

// decode returns the first record of some bytes and its size, or what is wrong with it.
func (d *decoder) decode(content []byte) (record Record, size int, wrong string) {
	if len(content) < recordHeader+checksumSize {
		return record, 0, "it ends within a record"
	}
	length, subject := binary.LittleEndian.Uint32(content), int(binary.LittleEndian.Uint16(content[20:]))
	size, prefix := int(length&^hasHeaders), 0
	if length&hasHeaders != 0 {
		prefix = headersLength
	}
	switch {
	case size < recordHeader+subject+prefix+checksumSize || size > maxRecord:
		return record, 0, "the length of a record is impossible"
	case size > len(content):
		return record, 0, "it ends within a record"
	}
	data := content[recordHeader : size-checksumSize]
	d.sum.Reset()
	_, _ = d.sum.Write(content[4:20])
	_, _ = d.sum.Write(data[:subject])
	_, _ = d.sum.Write(data[subject+prefix:])
	if d.sum.Sum64() != binary.LittleEndian.Uint64(content[size-checksumSize:size]) {
		return record, 0, "the checksum of a record does not hold"
	}
	record = Record{
		Sequence: binary.LittleEndian.Uint64(content[4:]), Time: int64(binary.LittleEndian.Uint64(content[12:])), //nolint:gosec // as it was written
	}
	return record, size, ""
}

// digest tells content from other content that came about by accident.
func digest(content []byte) string {
	sum := highwayhash.Sum64(content, make([]byte, highwayhash.Size))
	return fmt.Sprintf("%016x", sum)
}

// metaChecksum is what the server writes beside a stream's settings.
func metaChecksum(stream string, content []byte) string {
	key := sha256.Sum256([]byte(stream))
	sum, err := highwayhash.New64(key[:])
	if err != nil { // a key of another size
		return ""
	}
	_, _ = sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}
