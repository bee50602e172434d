package schemas

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Link holds all records of a session up to one: the attribute chain of the next record
// says it, in hexadecimal. The zero Link is that of no record.
//
// It is the SHA-256 of two times 32 bytes. The first are the Link that the record itself has in
// its attribute chain, zeros in the first of a session. The others are the SHA-256 of the record's
// body as it is stored: of the message's body, byte for byte, or, when that stands in the
// object store, of the object's bytes, which the attribute datahash says. Nothing is
// decoded or decrypted first: whoever has no key to a body can still follow the chain.
type Link [sha256.Size]byte

// Next returns the Link of a record whose attribute chain says l, and whose stored body has
// that SHA-256.
func (l Link) Next(body [sha256.Size]byte) Link {
	var linked [2 * sha256.Size]byte
	copy(linked[:], l[:])
	copy(linked[sha256.Size:], body[:])
	return sha256.Sum256(linked[:])
}

// String returns it as the attribute chain has it; zero is empty.
func (l Link) String() string {
	if l == (Link{}) {
		return ""
	}
	return hex.EncodeToString(l[:])
}

// LinkOf returns the Link of a record: body is what its message holds.
func LinkOf(record *Event, body []byte) Link {
	before, hash := digest(record.Chain), sha256.Sum256(body)
	if record.Artifact != nil {
		hash = digest(record.Artifact.SHA256)
	}
	return Link(before).Next(hash)
}

// digest reads a SHA-256 that was checked before; nothing is zero.
func digest(text string) (read [sha256.Size]byte) {
	_, _ = hex.Decode(read[:], []byte(text))
	return read
}
