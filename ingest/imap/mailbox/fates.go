package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Fate is what became of a message of the mailbox. The numbers stand in the
// mailbox ledger and never change.
type Fate byte

// The fates.
const (
	FateNone      Fate = iota // not dealt with
	FatePublished             // its event is on the ledger
	FateOld                   // older than was asked for at first contact
	FateKnown                 // published before UIDVALIDITY changed
	FateVanished              // removed by someone before it could be had
	FateFailed                // passed over after its tries
	FateCanary                // a mail that the door has sent to itself
	FateEarlier               // dealt with before fates were kept
	fateCount
)

// A Span is messages with adjacent UIDs and the same fate.
type Span struct {
	First, Last uint32
	Fate        Fate
}

// errFates reports entries of the mailbox ledger that cannot be read.
var errFates = errors.New("the fates in the mailbox ledger are damaged")

// fateBits is how much of the second number of an encoded span is its fate.
const fateBits = 3

// encodeSpans encodes spans, each by its distance from the one before and its
// length: 2 to 10 bytes. The first is measured from UID 0, so that every encoded
// piece can be read alone.
func encodeSpans(spans []Span) []byte {
	var packed []byte
	previous := uint32(0)
	for _, s := range spans {
		packed, previous = appendSpan(packed, previous, s), s.Last
	}
	return packed
}

func appendSpan(to []byte, previous uint32, s Span) []byte {
	to = binary.AppendVarint(to, int64(s.First)-int64(previous))
	return binary.AppendUvarint(to, uint64(s.Last-s.First)<<fateBits|uint64(s.Fate))
}

// decodeSpans reads what encodeSpans has written. It returns errFates for
// anything else.
func decodeSpans(packed []byte) ([]Span, error) {
	var spans []Span
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
		kind := Fate(length & (1<<fateBits - 1))
		if first < 1 || last > 1<<32-1 || kind == FateNone || kind >= fateCount {
			return nil, fmt.Errorf("%w: UIDs %d to %d", errFates, first, last)
		}
		spans = append(spans, Span{First: uint32(first), Last: uint32(last), Fate: kind})
		previous = last
	}
	return spans, nil
}

// Fates knows the fate of every message of one UIDVALIDITY: disjoint spans in
// ascending order, adjacent ones of one fate joined. A mailbox without holes is
// one span; the worst one takes 12 bytes a message.
type Fates []Span

// find returns the place of the first span that ends at or after a UID.
func (f Fates) find(uid uint32) int {
	at, _ := slices.BinarySearchFunc(f, uid, func(s Span, uid uint32) int {
		if s.Last < uid {
			return -1
		}
		return 1
	})
	return at
}

// Of returns the fate of a message.
func (f Fates) Of(uid uint32) Fate {
	if at := f.find(uid); at < len(f) && f[at].First <= uid {
		return f[at].Fate
	}
	return FateNone
}

// set gives messages a fate, whatever theirs was.
func (f Fates) set(s Span) Fates {
	if n := len(f); n == 0 || f[n-1].Last < s.First {
		return appendFate(f, s)
	}
	from := f.find(s.First)
	to := from
	replacement := make([]Span, 0, 3)
	switch {
	case from < len(f) && f[from].First < s.First:
		replacement = append(replacement, Span{First: f[from].First, Last: s.First - 1, Fate: f[from].Fate})
	case from > 0:
		from--
		replacement = append(replacement, f[from])
	}
	replacement = append(replacement, s)
	for to < len(f) && f[to].Last <= s.Last {
		to++
	}
	if to < len(f) {
		replacement = append(replacement, Span{First: max(f[to].First, s.Last+1), Last: f[to].Last, Fate: f[to].Fate})
		to++
	}
	return slices.Replace(f, from, to, joinSpans(replacement)...)
}

// joinSpans joins neighbors of one fate.
func joinSpans(spans []Span) []Span {
	joined := spans[:1]
	for _, s := range spans[1:] {
		joined = appendFate(joined, s)
	}
	return joined
}

// appendFate notes a fate at the end of a log of spans.
func appendFate(log []Span, s Span) []Span {
	if n := len(log); n > 0 && log[n-1].Fate == s.Fate && log[n-1].Last+1 == s.First {
		log[n-1].Last = s.Last
		return log
	}
	return append(log, s)
}
