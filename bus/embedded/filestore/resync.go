package filestore

import (
	"encoding/binary"
	"maps"
	"slices"
)

// hashedPerBlock bounds the bytes that a search hashes in one block. Only a body that was made to
// look like many records costs as much.
const hashedPerBlock = 4 << 30

// A search finds the next whole record behind a damage in one block.
//
// A body is its sender's, and may hold bytes that look like a record, checksum included. Such bytes
// never lead to the end of the block, because the checksum of the real record, which a sender
// cannot know, stands between. So records that follow one another to the end of the block
// are believed. Records between two damages are believed when their sequences lie between those
// of the records around them, and when they are not in the body of a record whose header is whole.
type search struct {
	d       *decoder
	content []byte
	last    uint64           // sequence of the last record that was read
	final   int              // where records begin that lead to the end of the block
	known   bool             // final was looked for
	seen    map[int]struct{} // where whole records begin
	whole   []int            // the same, in order
	hashed  int64            // bytes
}

func newSearch(d *decoder, content []byte) *search { return &search{d: d, content: content} }

// passed notes a record that was read.
func (s *search) passed(record *Record) {
	if record.Sequence&tombstone == 0 {
		s.last = max(s.last, record.Sequence&^erased)
	}
}

// next returns where the first whole record behind a damaged one begins, or the end.
func (s *search) next(offset int) int {
	if end, found := s.byLength(offset); found {
		return end
	}
	from := offset + 1
	if size, is := s.header(offset); is { // what its body holds is not looked at
		from = min(offset+size, len(s.content))
	}
	if !s.known {
		s.final, s.known = s.findFinal(offset+1), true
		s.whole = slices.Sorted(maps.Keys(s.seen))
	}
	island := s.findIsland(from)
	if island == s.final && from == len(s.content) && s.firstSequence(s.final) != s.last+2 {
		return len(s.content) // its record was being written when the process ended
	}
	return island
}

// byLength returns where a damaged record ends by its length: by that one which makes it whole
// if one bit of it has flipped, else by the one in its header, if it leads to another record.
func (s *search) byLength(offset int) (end int, found bool) {
	rest := s.content[offset:]
	head := rest[:4]
	length := binary.LittleEndian.Uint32(head)
	defer binary.LittleEndian.PutUint32(head, length)
	for bit := range 32 {
		binary.LittleEndian.PutUint32(head, length^1<<bit)
		if _, size, wrong := s.d.decode(rest); wrong == "" {
			return offset + size, true
		}
	}
	size := int(length &^ hasHeaders)
	if size < recordHeader+checksumSize || size > len(rest) {
		return 0, false
	}
	_, _, wrong := s.d.decode(rest[size:])
	return offset + size, wrong == "" || size == len(rest)
}

// header returns the size that a damaged record states, if its header can be that of the record
// which follows the last one.
func (s *search) header(offset int) (size int, is bool) {
	rest := s.content[offset:]
	size = int(binary.LittleEndian.Uint32(rest) &^ hasHeaders)
	subject := int(binary.LittleEndian.Uint16(rest[20:]))
	sequence := binary.LittleEndian.Uint64(rest[4:]) &^ (erased | tombstone)
	return size, size >= recordHeader+subject+checksumSize && size <= maxRecord && s.follows(sequence)
}

// follows reports whether a sequence can stand behind the last record: one block holds no more than
// some millions of them.
func (s *search) follows(sequence uint64) bool {
	const most = 1 << 32
	return sequence > s.last && (s.last == 0 || sequence-s.last < most) && sequence < 1<<56
}

// findFinal returns where the first record begins from which whole records lead to the end of the
// block, or the end.
func (s *search) findFinal(from int) int {
	s.seen = map[int]struct{}{}
	for at := from; at+recordHeader+checksumSize <= len(s.content); at++ {
		if s.candidate(at) && s.leadsToEnd(at) {
			return at
		}
	}
	return len(s.content)
}

// candidate reports, without a checksum, whether a record can begin at an offset.
func (s *search) candidate(at int) bool {
	rest := s.content[at:]
	size := int(binary.LittleEndian.Uint32(rest) &^ hasHeaders)
	if size < recordHeader+checksumSize || size > len(rest) {
		return false
	}
	sequence := binary.LittleEndian.Uint64(rest[4:])
	return sequence&tombstone != 0 && sequence&^(tombstone|erased) < 1<<56 || s.follows(sequence&^erased)
}

// leadsToEnd reports whether whole records follow one another from an offset to the end of the block.
func (s *search) leadsToEnd(at int) bool {
	for at < len(s.content) {
		if _, seen := s.seen[at]; seen {
			return false // it led to a damage
		}
		_, size, whole := s.decode(at)
		if !whole {
			return false
		}
		s.seen[at] = struct{}{}
		at += size
	}
	return true
}

// decode is that of the decoder, within the bound of a search.
func (s *search) decode(at int) (record Record, size int, whole bool) {
	rest := s.content[at:]
	if len(rest) < recordHeader+checksumSize || s.hashed > hashedPerBlock {
		return record, 0, false
	}
	if stated := int64(binary.LittleEndian.Uint32(rest) &^ hasHeaders); stated <= int64(len(rest)) {
		s.hashed += stated
	}
	record, size, wrong := s.d.decode(rest)
	return record, size, wrong == ""
}

// findIsland returns where the first whole records begin that stand between two damages; without
// any, where those begin that lead to the end.
func (s *search) findIsland(from int) int {
	limit := s.firstSequence(s.final)
	first, _ := slices.BinarySearch(s.whole, from)
	for _, at := range s.whole[first:] {
		if at < s.final && s.isIsland(at, limit) {
			return at
		}
	}
	return s.final
}

// isIsland reports whether the whole records from an offset on stand in order, behind the last record
// and before the limit. The damage behind them stands for one message at least.
func (s *search) isIsland(at int, limit uint64) bool {
	for last := s.last; at < s.final; {
		record, size, whole := s.decode(at)
		if !whole {
			break
		}
		at += size
		if record.Sequence&tombstone != 0 {
			continue
		}
		sequence := record.Sequence &^ erased
		if sequence <= last || sequence+1 >= limit {
			return false
		}
		last = sequence
	}
	return true
}

// firstSequence returns the sequence of the first message from an offset on, or a higher one than
// any.
func (s *search) firstSequence(at int) uint64 {
	for at < len(s.content) {
		record, size, wrong := s.d.decode(s.content[at:])
		if wrong != "" {
			break
		}
		if record.Sequence&tombstone == 0 {
			return record.Sequence &^ erased
		}
		at += size
	}
	return 1 << 63
}
