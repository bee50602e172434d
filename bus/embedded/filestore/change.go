package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded/wholefile"
)

const indexFile = "index.db"

// The calls below change a store at rest, before a server is started on it.

// RemoveIndex removes what the server derives from a stream's blocks, so that it reads
// them: an index that fits the last block hides what is damaged before, and one that is
// older than the blocks makes sequences jump.
func RemoveIndex(folder string) error {
	return gone(os.Remove(filepath.Join(folder, blocksFolder, indexFile)))
}

// WriteMeta writes the files that describe a stream.
func WriteMeta(folder, settings, sum string) error {
	if sum == "" {
		sum = metaChecksum(filepath.Base(folder), []byte(settings))
	}
	return errors.Join(wholefile.Replace(filepath.Join(folder, metaFile), []byte(settings)),
		wholefile.Replace(filepath.Join(folder, metaSumFile), []byte(sum)))
}

// RemoveMeta removes the files that describe a stream: it is made anew, with its messages.
func RemoveMeta(folder string) error {
	return errors.Join(gone(os.Remove(filepath.Join(folder, metaFile))), gone(os.Remove(filepath.Join(folder, metaSumFile))))
}

// CutBehind keeps of a block what stands before its first record of a sequence, or of a
// later one, and before what is damaged.
func CutBehind(folder string, index uint32, sequence uint64) error {
	content, d, err := open(folder, index)
	if err != nil {
		return err
	}
	end := int64(len(content))
	d.each(content, func(offset int64, record *Record) {
		if record.Sequence&^(erased|tombstone) >= sequence {
			end = min(end, offset)
		}
	}, func(offset, _ int64, _ string) { end = min(end, offset) })
	return wholefile.Replace(BlockFile(folder, index), content[:end])
}

// open returns what a block's file holds, and what reads it.
func open(folder string, index uint32) ([]byte, *decoder, error) {
	content, err := os.ReadFile(BlockFile(folder, index))
	if err != nil {
		return nil, nil, err
	}
	d, err := newDecoder(filepath.Base(folder), index)
	return content, d, err
}

// RemoveBlock removes a block.
func RemoveBlock(folder string, index uint32) error {
	return gone(os.Remove(BlockFile(folder, index)))
}

// OmitDamage leaves out of a block what cannot be read, and keeps the records before and
// behind.
func OmitDamage(folder string, index uint32) error {
	return rewrite(folder, index, func(*decoder, int64, []byte) bool { return false })
}

// FlipBack restores in a block the records in which one bit has flipped, which their
// checksums prove, and leaves the rest as it is. It returns their offsets.
func FlipBack(folder string, index uint32) (restored []int64, err error) {
	err = rewrite(folder, index, func(d *decoder, offset int64, piece []byte) bool {
		if d.flipBack(piece) {
			restored = append(restored, offset)
		}
		return true
	})
	return restored, err
}

// rewrite writes a block anew with those of its damaged pieces that keep returns true for,
// which may change them.
func rewrite(folder string, index uint32, keep func(d *decoder, offset int64, piece []byte) bool) error {
	content, d, err := open(folder, index)
	if err != nil {
		return err
	}
	var kept []byte
	from := int64(0)
	d.each(content, func(int64, *Record) {}, func(offset, length int64, _ string) {
		kept = append(kept, content[from:offset]...)
		from = offset + length
		if piece := content[offset:from]; keep(d, offset, piece) {
			kept = append(kept, piece...)
		}
	})
	return wholefile.Replace(BlockFile(folder, index), append(kept, content[from:]...))
}

// flippable bounds the record in which a flipped bit is looked for, in bytes: the time
// grows with the square, to some seconds here.
const flippable = 64 << 10

// flipBack looks for the one bit that makes a piece a whole record, and flips it.
func (d *decoder) flipBack(piece []byte) bool {
	if len(piece) > flippable {
		return false
	}
	for i := range piece {
		for bit := range 8 {
			piece[i] ^= 1 << bit
			if _, size, wrong := d.decode(piece); wrong == "" && size == len(piece) {
				return true
			}
			piece[i] ^= 1 << bit
		}
	}
	return false
}

// Keep copies a block to a folder, before it is changed.
func Keep(folder string, index uint32, to string) error {
	content, err := os.ReadFile(BlockFile(folder, index))
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	if err == nil {
		err = wholefile.Create(filepath.Join(to, filepath.Base(BlockFile(folder, index))), content)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // it was kept before
		return fmt.Errorf("keep a copy of what is damaged: %w", err)
	}
	return nil
}
