package imap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A fate is what became of a message of the mailbox. The numbers stand in the
// mailbox ledger and never change.
type fate byte

// The fates.
const (
	fateNone      fate = iota // not dealt with
	fatePublished             // its event is on the ledger
	fateOld                   // older than was asked for at first contact
	fateKnown                 // published before UIDVALIDITY changed
	fateVanished              // removed by someone before it could be had
	fateFailed                // passed over after its tries
	fateCanary                // a mail that the door has sent to itself
	fateEarlier               // dealt with before fates were kept
	fateCount
)

// A span is messages with adjacent UIDs and the same fate.
type span struct {
	first, last uint32
	fate        fate
}

// errFates reports entries of the mailbox ledger that cannot be read.
var errFates = errors.New("the fates in the mailbox ledger are damaged")

// fateBits is how much of the second number of an encoded span is its fate.
const fateBits = 3

// encodeSpans encodes spans, each by its distance from the one before and its
// length: 2 to 10 bytes. The first is measured from UID 0, so that every encoded
// piece can be read alone.
func encodeSpans(spans []span) []byte {
	var packed []byte
	previous := uint32(0)
	for _, s := range spans {
		packed, previous = appendSpan(packed, previous, s), s.last
	}
	return packed
}

func appendSpan(to []byte, previous uint32, s span) []byte {
	to = binary.AppendVarint(to, int64(s.first)-int64(previous))
	return binary.AppendUvarint(to, uint64(s.last-s.first)<<fateBits|uint64(s.fate))
}

// decodeSpans reads what encodeSpans has written. It returns errFates for
// anything else.
func decodeSpans(packed []byte) ([]span, error) {
	var spans []span
	previous := int64(0)
	for len(packed) > 0 {
		distance, n := binary.Varint(packed)
		if n <= 0 {
			return nil, errFates
		}
		packed = packed[n:]
		length, n := binary.Uvarint(packed)
		if n <= 0 {
			return nil, errFates
		}
		packed = packed[n:]
		if distance < -1<<32 || distance > 1<<32 || length>>fateBits >= 1<<32 {
			return nil, errFates
		}
		first := previous + distance
		last := first + int64(length>>fateBits) //nolint:gosec // below 2^32
		kind := fate(length & (1<<fateBits - 1))
		if first < 1 || last > 1<<32-1 || kind == fateNone || kind >= fateCount {
			return nil, fmt.Errorf("%w: UIDs %d to %d", errFates, first, last)
		}
		spans = append(spans, span{first: uint32(first), last: uint32(last), fate: kind})
		previous = last
	}
	return spans, nil
}

// fates knows the fate of every message of one UIDVALIDITY: disjoint spans in
// ascending order, adjacent ones of one fate joined. A mailbox without holes is
// one span; the worst one takes 12 bytes a message.
type fates []span

// find returns the place of the first span that ends at or after a UID.
func (f fates) find(uid uint32) int {
	at, _ := slices.BinarySearchFunc(f, uid, func(s span, uid uint32) int {
		if s.last < uid {
			return -1
		}
		return 1
	})
	return at
}

// of returns the fate of a message.
func (f fates) of(uid uint32) fate {
	if at := f.find(uid); at < len(f) && f[at].first <= uid {
		return f[at].fate
	}
	return fateNone
}

// set gives messages a fate, whatever theirs was.
func (f fates) set(s span) fates {
	if n := len(f); n == 0 || f[n-1].last < s.first {
		return appendFate(f, s)
	}
	from := f.find(s.first)
	to := from
	replacement := make([]span, 0, 3)
	switch {
	case from < len(f) && f[from].first < s.first:
		replacement = append(replacement, span{first: f[from].first, last: s.first - 1, fate: f[from].fate})
	case from > 0:
		from--
		replacement = append(replacement, f[from])
	}
	replacement = append(replacement, s)
	for to < len(f) && f[to].last <= s.last {
		to++
	}
	if to < len(f) {
		replacement = append(replacement, span{first: max(f[to].first, s.last+1), last: f[to].last, fate: f[to].fate})
		to++
	}
	return slices.Replace(f, from, to, joinSpans(replacement)...)
}

// joinSpans joins neighbors of one fate.
func joinSpans(spans []span) []span {
	joined := spans[:1]
	for _, s := range spans[1:] {
		joined = appendFate(joined, s)
	}
	return joined
}

// appendFate notes a fate at the end of a log of spans.
func appendFate(log []span, s span) []span {
	if n := len(log); n > 0 && log[n-1].fate == s.fate && log[n-1].last+1 == s.first {
		log[n-1].last = s.last
		return log
	}
	return append(log, s)
}
