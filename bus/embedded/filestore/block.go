package filestore

import "encoding/hex"

// A Damage is a piece of a block that cannot be read.
type Damage struct {
	Offset int64 // in the block's file, in bytes
	Length int64 // up to the next record that can be read, or the end of the file
	Reason string
	// After is the sequence of the last record before it, 0 when there is none in the
	// block; Before that of the next behind it, 0 when there is none.
	After, Before uint64
	AfterTime     int64 // of the record before, nanoseconds since 1970
}

// A Block is what a block's file holds.
type Block struct {
	Index uint32
	Size  int64 // bytes
	// Whole is how many of them stand before a damage at its end: a server that opens the
	// block writes over the rest.
	Whole       int64
	Checksum    string // the last ones of the whole bytes
	Digest      string // of all whole bytes; "" when they were not read
	Before      string // of as many of them as somebody remembered; "" when there are fewer
	First, Last uint64 // sequences of the messages that it holds; 0 and 0 when it holds none
	LastTime    int64  // of the last message, nanoseconds since 1970
	Gaps        []Gap  // of sequences between two of its messages
	Damages     []Damage

	removed uint64 // the highest sequence that it says was removed
}

// A Gap is missing sequences, both inclusive.
type Gap struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// each reads a block from its beginning to its end, and goes on behind what is damaged.
func (d *decoder) each(content []byte, read func(offset int64, record *Record), damaged func(offset, length int64, reason string)) {
	s := newSearch(d, content)
	for offset := 0; offset < len(content); {
		record, size, wrong := d.decode(content[offset:])
		if wrong == "" {
			read(int64(offset), &record)
			s.passed(&record)
			offset += size
			continue
		}
		next := len(content)
		if offset+recordHeader+checksumSize <= len(content) {
			next = s.next(offset)
		}
		damaged(int64(offset), int64(next-offset), wrong)
		offset = next
	}
}

// readBlock says what a block holds. The content is that of its file.
func readBlock(stream string, index uint32, content []byte, remembered int64) (Block, error) {
	block := Block{Index: index, Size: int64(len(content))}
	d, err := newDecoder(stream, index)
	if err != nil {
		return block, err
	}
	d.each(content, func(_ int64, record *Record) { block.add(record) }, func(offset, length int64, reason string) {
		block.Damages = append(block.Damages, Damage{Offset: offset, Length: length, Reason: reason, After: block.Last, AfterTime: block.LastTime})
	})
	block.Whole = block.Size
	if last := len(block.Damages) - 1; last >= 0 && block.Damages[last].Offset+block.Damages[last].Length == block.Size {
		block.Whole = block.Damages[last].Offset
	}
	whole := content[:block.Whole]
	block.Checksum, block.Digest = ending(whole), digest(whole)
	switch {
	case remembered == block.Whole:
		block.Before = block.Digest
	case remembered <= block.Size:
		block.Before = digest(content[:remembered])
	}
	return block, nil
}

// add counts a record. A tombstone says something of a message elsewhere, and an erased one
// keeps its sequence.
func (b *Block) add(record *Record) {
	if record.Sequence&tombstone != 0 {
		b.removed = max(b.removed, record.Sequence&^tombstone)
		return
	}
	sequence := record.Sequence &^ erased
	if sequence == 0 || sequence <= b.Last {
		return
	}
	damaged := len(b.Damages) > 0 && b.Damages[len(b.Damages)-1].Before == 0
	switch {
	case damaged:
		b.Damages[len(b.Damages)-1].Before = sequence
	case b.Last != 0 && sequence != b.Last+1:
		b.Gaps = append(b.Gaps, Gap{First: b.Last + 1, Last: sequence - 1})
	}
	if b.First == 0 {
		b.First = sequence
	}
	b.Last, b.LastTime = sequence, record.Time
}

// ending is what tells whether a file ends as it did: the checksum of its last record.
func ending(content []byte) string {
	return hex.EncodeToString(content[max(len(content)-checksumSize, 0):])
}
