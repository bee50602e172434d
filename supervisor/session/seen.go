package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
)

// Seen remembers inputs in the order in which they were taken: of each, 64 bits
// of the SHA-256 of its id, and the run that it concerns. It only grows, by about
// nine bytes an input, and whoever has a copy of it sees no more than was there.
type Seen struct {
	ids  []byte   // prefixBytes each
	runs []stride // of the inputs, in order
}

// A stride is a number of inputs of which each concerns the run that is so many
// numbers behind the one before it. Most messages begin the next run, so that a
// conversation of any length has few of them.
type stride struct {
	step  int64
	count uint64
}

const prefixBytes = 8

// errSeen reports a text that MarshalText has not written.
var errSeen = errors.New("it does not say which inputs were seen")

// IsZero reports whether nothing was seen.
func (s Seen) IsZero() bool { return len(s.ids) == 0 }

// Len counts the inputs.
func (s Seen) Len() int { return len(s.ids) / prefixBytes }

// with returns what is remembered once an input more is seen.
func (s Seen) with(id string, run int) Seen {
	sum := sha256.Sum256([]byte(id))
	next := Seen{ids: slices.Concat(s.ids, sum[:prefixBytes]), runs: slices.Clone(s.runs)}
	last := int64(0)
	for _, stride := range s.runs {
		last += stride.step * int64(stride.count) //nolint:gosec // a count of inputs in memory
	}
	step := int64(run) - last
	if n := len(next.runs); n > 0 && next.runs[n-1].step == step {
		next.runs[n-1].count++
	} else {
		next.runs = append(next.runs, stride{step, 1})
	}
	return next
}

// find returns the place of the first input of that id, or -1.
func (s Seen) find(id string) int {
	sum := sha256.Sum256([]byte(id))
	prefix := binary.NativeEndian.Uint64(sum[:prefixBytes])
	for i := 0; i+prefixBytes <= len(s.ids); i += prefixBytes {
		if binary.NativeEndian.Uint64(s.ids[i:]) == prefix {
			return i / prefixBytes
		}
	}
	return -1
}

// run returns the run that the input at a place concerns.
func (s Seen) run(place int) int {
	left, run := uint64(place)+1, int64(0) //nolint:gosec // a place is not negative
	for _, stride := range s.runs {
		run += stride.step * int64(min(stride.count, left)) //nolint:gosec // a count of inputs in memory
		if left <= stride.count {
			break
		}
		left -= stride.count
	}
	return int(run)
}

// MarshalText returns the base64 (RFC 4648, unpadded) of the number of inputs,
// their prefixes, and step and count of each stride. Numbers are varints, as
// encoding/binary has them; a step has a sign.
func (s Seen) MarshalText() ([]byte, error) {
	packed := binary.AppendUvarint(nil, uint64(s.Len())) //nolint:gosec // a length
	packed = append(packed, s.ids...)
	for _, stride := range s.runs {
		packed = binary.AppendUvarint(binary.AppendVarint(packed, stride.step), stride.count)
	}
	return base64.RawStdEncoding.AppendEncode(nil, packed), nil
}

// UnmarshalText reads what MarshalText has written.
func (s *Seen) UnmarshalText(text []byte) error {
	packed, err := base64.RawStdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return errors.Join(errSeen, err)
	}
	inputs, n := binary.Uvarint(packed)
	if n <= 0 || inputs > uint64(len(packed)-n)/prefixBytes { //nolint:gosec // a length
		return errSeen
	}
	rest := packed[n:]
	read := Seen{ids: slices.Clone(rest[:inputs*prefixBytes])}
	for rest = rest[inputs*prefixBytes:]; len(rest) > 0; {
		step, n := binary.Varint(rest)
		if n <= 0 {
			return errSeen
		}
		count, m := binary.Uvarint(rest[n:])
		if m <= 0 || count == 0 || count > inputs {
			return errSeen
		}
		read.runs, rest, inputs = append(read.runs, stride{step, count}), rest[n+m:], inputs-count
	}
	if inputs > 0 {
		return errSeen
	}
	*s = read
	return nil
}
