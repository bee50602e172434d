package recovery

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"podium/bus/embedded/filestore"
	"podium/bus/embedded/wholefile"
)

// marksFormat is that of the file of marks.
const marksFormat = 1

// Marks are the high-water marks of a ledger: how far its streams went when somebody
// last looked. They stand apart from the streams, so that a stream which has become
// shorter, or is gone, is noticed.
type Marks struct {
	Format int `json:"format"`
	// Clean says that the server was stopped in order, everything was flushed then,
	// and nobody has started one since.
	Clean bool `json:"clean"`
	// Crashed says that the last stop of a service was not in order, whatever was done to
	// the ledger at rest since.
	Crashed bool `json:"crashed,omitempty"`
	// Flushing says that each message was flushed before it was acknowledged, since the
	// last start.
	Flushing bool            `json:"flushing,omitempty"`
	Time     time.Time       `json:"time"`
	Streams  map[string]Mark `json:"streams"`
	// Losses are those that were found and gone over, oldest first.
	Losses []Loss `json:"losses,omitempty"`
}

// A Mark is how far one stream went.
type Mark struct {
	Last    uint64 `json:"last"`    // sequence of the newest message
	Flushed uint64 `json:"flushed"` // up to this one it survives a loss of power
	// Gaps are those of a stream that forgets nothing which were gone over.
	Gaps []filestore.Gap `json:"gaps,omitempty"`
	// Blocks are its files at the last start or clean stop.
	Blocks []BlockMark `json:"blocks,omitempty"`
	// Consumers are those of the stream at the last clean stop.
	Consumers []filestore.Consumer `json:"consumers,omitempty"`
	// Settings and Sum are the content of the files that describe it.
	Settings string `json:"settings,omitempty"`
	Sum      string `json:"sum,omitempty"`
}

// A BlockMark is one file of a stream.
type BlockMark struct {
	Index    uint32 `json:"index"`
	Size     int64  `json:"size"`             // bytes that were whole
	Checksum string `json:"checksum"`         // its last bytes
	Digest   string `json:"digest,omitempty"` // of all of them, once they were read
}

// ReadMarks reads a file of marks; found is false when there is none: the ledger is
// new, or somebody has removed it to go on without. One that is damaged is an error.
func ReadMarks(file string) (marks *Marks, found bool, err error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Marks{Format: marksFormat, Streams: map[string]Mark{}}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the ledger's high-water marks: %w", err)
	}
	marks = &Marks{}
	written, sum, _ := bytes.Cut(content, []byte("\n"))
	if err = json.Unmarshal(written, marks); err == nil && string(sum) != checksum(written) {
		err = errors.New("the checksum does not hold")
	}
	if err != nil {
		return nil, true, fmt.Errorf("the ledger's high-water marks in %s are damaged, so that nobody can say whether something is missing: "+
			"restore the file from a backup, or remove it to go on without: %w", file, err)
	}
	if marks.Format != marksFormat {
		return nil, true, fmt.Errorf("the ledger's high-water marks in %s have format %d, and this version knows %d only: use the version that wrote them", file, marks.Format, marksFormat)
	}
	if marks.Streams == nil {
		marks.Streams = map[string]Mark{}
	}
	return marks, true, nil
}

// Write writes the marks, which survive a loss of power once it has returned.
func (m *Marks) Write(file string) error {
	content, err := json.Marshal(m)
	if err == nil {
		err = wholefile.Replace(file, append(append(content, '\n'), checksum(content)...))
	}
	if err != nil {
		return fmt.Errorf("write the ledger's high-water marks: %w", err)
	}
	return nil
}

// checksum is what stands behind the marks in their file.
func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]) + "\n"
}

// blocks are the files of a stream, with the digests that are known of those that have
// not changed since.
func (m *Mark) blocks(stream *filestore.Stream) []BlockMark {
	blocks := make([]BlockMark, 0, len(stream.Blocks))
	for _, block := range stream.Blocks {
		now := BlockMark{Index: block.Index, Size: block.Whole, Checksum: block.Checksum, Digest: block.Digest}
		if was, known := m.block(block.Index); known && now.Digest == "" && was.Size == now.Size && was.Checksum == now.Checksum {
			now.Digest = was.Digest
		}
		blocks = append(blocks, now)
	}
	return blocks
}

func (m *Mark) block(index uint32) (BlockMark, bool) {
	at, found := slices.BinarySearchFunc(m.Blocks, index, func(b BlockMark, index uint32) int { return cmp.Compare(b.Index, index) })
	if !found {
		return BlockMark{}, false
	}
	return m.Blocks[at], true
}

// size is how many bytes of a block the marks know the digest of.
func (m *Marks) size(stream string, block uint32) int64 {
	mark := m.Streams[stream]
	if was, known := mark.block(block); known && was.Digest != "" {
		return was.Size
	}
	return 0
}

// hold marks how far a store goes that is flushed. Whole says that all of it was read, and
// what it lacks gone over.
func (m *Marks) hold(store *filestore.Store, whole bool) {
	for i := range store.Streams {
		stream := &store.Streams[i]
		before := m.Streams[stream.Name]
		mark := Mark{Last: stream.Last, Flushed: stream.Last, Settings: before.Settings, Sum: before.Sum, Gaps: before.Gaps, Blocks: before.blocks(stream), Consumers: before.Consumers}
		if stream.Meta == "" {
			mark.Settings, mark.Sum = stream.Settings, stream.Sum
		}
		if whole {
			mark.Gaps = stream.Holes()
		}
		m.Streams[stream.Name] = mark
	}
}

// Stopped marks a store whose server has stopped in order. Everything in it is flushed.
func (m *Marks) Stopped(store *filestore.Store, whole bool, now time.Time) {
	m.Clean, m.Time = true, now.UTC()
	m.hold(store, whole)
}
