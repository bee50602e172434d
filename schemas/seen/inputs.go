// Package seen remembers which inputs a session has taken, so that none takes effect twice.
package seen

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"podium/schemas/immutable"
)

// Inputs remembers the inputs of a session in the order in which they were taken: of
// each, 64 bits of the SHA-256 of its id, and the run that it concerns. It only
// grows, by about nine bytes an input, and whoever has a copy of it sees no more
// than was there.
type Inputs struct {
	ids  immutable.List[uint64] // the first bytes of each hash, big-endian
	runs immutable.List[stride] // of the inputs, in order
	last int64                  // the run of the newest input
}

// A stride is a number of inputs of which each concerns the run that is so many
// numbers behind the one before it. Most messages begin the next run, so that a
// session of any length has few of them.
type stride struct {
	step  int64
	count uint64
}

const prefixBytes = 8

// errSeen reports a text that MarshalText has not written.
var errSeen = errors.New("it does not say which inputs were seen")

// IsZero reports whether nothing was seen.
func (s Inputs) IsZero() bool { return s.Len() == 0 }

// Len counts the inputs.
func (s Inputs) Len() int { return s.ids.Len() }

// With returns what is remembered once an input more is seen.
func (s Inputs) With(id string, run int) Inputs {
	step := int64(run) - s.last
	s.ids, s.last = s.ids.With(prefixOf(id)), int64(run)
	if newest := s.runs.Len() - 1; newest >= 0 && s.runs.At(newest).step == step {
		s.runs = s.runs.Set(newest, stride{step, s.runs.At(newest).count + 1})
		return s
	}
	s.runs = s.runs.With(stride{step, 1})
	return s
}

func prefixOf(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:prefixBytes])
}

// Find returns the place of the first input of that id, or -1.
func (s Inputs) Find(id string) int { return immutable.Index(s.ids, prefixOf(id)) }

// Run returns the run that the input at a place concerns.
func (s Inputs) Run(place int) int {
	left, run := uint64(place)+1, int64(0) //nolint:gosec // a place is not negative
	for stride := range s.runs.All() {
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
func (s Inputs) MarshalText() ([]byte, error) {
	packed := binary.AppendUvarint(nil, uint64(s.Len())) //nolint:gosec // a length
	for id := range s.ids.All() {
		packed = binary.BigEndian.AppendUint64(packed, id)
	}
	for stride := range s.runs.All() {
		packed = binary.AppendUvarint(binary.AppendVarint(packed, stride.step), stride.count)
	}
	return base64.RawStdEncoding.AppendEncode(nil, packed), nil
}

// UnmarshalText reads what MarshalText has written.
func (s *Inputs) UnmarshalText(text []byte) error {
	packed, err := base64.RawStdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return errors.Join(errSeen, err)
	}
	inputs, n := binary.Uvarint(packed)
	if n <= 0 || inputs > uint64(len(packed)-n)/prefixBytes { //nolint:gosec // a length
		return errSeen
	}
	rest, ids := packed[n:], make([]uint64, inputs)
	for i := range ids {
		ids[i], rest = binary.BigEndian.Uint64(rest), rest[prefixBytes:]
	}
	read := Inputs{ids: immutable.ListOf(ids)}
	for len(rest) > 0 {
		step, n := binary.Varint(rest)
		if n <= 0 {
			return errSeen
		}
		count, m := binary.Uvarint(rest[n:])
		if m <= 0 || count == 0 || count > inputs {
			return errSeen
		}
		read.runs, read.last = read.runs.With(stride{step, count}), read.last+step*int64(count) //nolint:gosec // a count of inputs in memory
		rest, inputs = rest[n+m:], inputs-count
	}
	if inputs > 0 {
		return errSeen
	}
	*s = read
	return nil
}
