package mailbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Disposition is what became of a message of the mailbox. The numbers stand in the
// mailbox ledger and never change.
type Disposition byte

// The dispositions.
const (
	DispositionNone      Disposition = iota // not dealt with
	DispositionPublished                    // its event is on the ledger
	DispositionOld                          // older than was asked for at first contact
	DispositionKnown                        // published before UIDVALIDITY changed
	DispositionVanished                     // removed by someone before it could be had
	DispositionFailed                       // passed over after its tries
	DispositionCanary                       // a mail that the adapter has sent to itself
	dispositionCount
)

// A Span is messages with adjacent UIDs and the same disposition.
type Span struct {
	First, Last uint32
	Disposition Disposition
}

// errDispositions reports entries of the mailbox ledger that cannot be read.
var errDispositions = errors.New("the dispositions in the mailbox ledger are damaged")

// dispositionBits is how much of the second number of an encoded span is its disposition.
const dispositionBits = 3

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
	return binary.AppendUvarint(to, uint64(s.Last-s.First)<<dispositionBits|uint64(s.Disposition))
}

// decodeSpans reads what encodeSpans has written. It returns errDispositions for
// anything else.
func decodeSpans(packed []byte) ([]Span, error) {
	var spans []Span
	previous := int64(0)
	for in := bytes.NewReader(packed); in.Len() > 0; {
		distance, wrong := binary.ReadVarint(in)
		length, err := binary.ReadUvarint(in)
		if wrong != nil || err != nil || distance < -1<<32 || distance > 1<<32 || length>>dispositionBits >= 1<<32 {
			return nil, errDispositions
		}
		first := previous + distance
		last := first + int64(length>>dispositionBits) //nolint:gosec // below 2^32
		kind := Disposition(length & (1<<dispositionBits - 1))
		if first < 1 || last > 1<<32-1 || kind == DispositionNone || kind >= dispositionCount {
			return nil, fmt.Errorf("%w: UIDs %d to %d", errDispositions, first, last)
		}
		spans = append(spans, Span{First: uint32(first), Last: uint32(last), Disposition: kind})
		previous = last
	}
	return spans, nil
}

// Dispositions knows the disposition of every message of one UIDVALIDITY: disjoint spans in
// ascending order, adjacent ones of one disposition joined. A mailbox without holes is
// one span; the worst one takes 12 bytes a message.
type Dispositions []Span

// find returns the place of the first span that ends at or after a UID.
func (f Dispositions) find(uid uint32) int {
	at, _ := slices.BinarySearchFunc(f, uid, func(s Span, uid uint32) int {
		if s.Last < uid {
			return -1
		}
		return 1
	})
	return at
}

// Of returns the disposition of a message.
func (f Dispositions) Of(uid uint32) Disposition {
	if at := f.find(uid); at < len(f) && f[at].First <= uid {
		return f[at].Disposition
	}
	return DispositionNone
}

// set gives messages their dispositions, whatever those were before.
func (f Dispositions) set(spans ...Span) Dispositions {
	for _, s := range spans {
		f = f.setOne(s)
	}
	return f
}

func (f Dispositions) setOne(s Span) Dispositions {
	if n := len(f); n == 0 || f[n-1].Last < s.First {
		return noteSpan(f, s)
	}
	from := f.find(s.First)
	to := from
	replacement := make([]Span, 0, 3)
	switch {
	case from < len(f) && f[from].First < s.First:
		replacement = append(replacement, Span{First: f[from].First, Last: s.First - 1, Disposition: f[from].Disposition})
	case from > 0:
		from--
		replacement = append(replacement, f[from])
	}
	replacement = append(replacement, s)
	for to < len(f) && f[to].Last <= s.Last {
		to++
	}
	if to < len(f) {
		replacement = append(replacement, Span{First: max(f[to].First, s.Last+1), Last: f[to].Last, Disposition: f[to].Disposition})
		to++
	}
	return slices.Replace(f, from, to, joinSpans(replacement)...)
}

// joinSpans joins neighbors of one disposition.
func joinSpans(spans []Span) []Span {
	joined := spans[:1]
	for _, s := range spans[1:] {
		joined = noteSpan(joined, s)
	}
	return joined
}

// noteSpan notes a disposition at the end of a log of spans.
func noteSpan(log []Span, s Span) []Span {
	if n := len(log); n > 0 && log[n-1].Disposition == s.Disposition && log[n-1].Last+1 == s.First {
		log[n-1].Last = s.Last
		return log
	}
	return append(log, s)
}
