package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	streamsFolder = "streams"
	blocksFolder  = "msgs"
	blockSuffix   = ".blk"
	metaFile      = "meta.inf"
	metaSumFile   = "meta.sum"
)

// A Stream is what the files of a stream hold.
type Stream struct {
	Name   string
	Folder string
	// Whole says that its sequences have no gaps, because nothing is ever removed.
	Whole    bool
	Metadata map[string]string
	MaxBytes int64  // that it may hold; -1 is no bound
	Settings string // content of the file of its settings
	Sum      string // and of that of its checksum
	Meta     string // what is wrong with these two, "" when nothing is
	Bare     bool   // neither is there: a server passes it over until the stream is made anew, with its messages

	Blocks   []Block // in the order of their indexes
	Last     uint64  // sequence, that of a removed message included; 0 when it holds nothing
	LastTime int64   // of the last message, nanoseconds since 1970
}

// A Store is what the files of all streams hold.
type Store struct {
	Streams []Stream // by name
}

// Stream returns one by its name, or nil.
func (s *Store) Stream(name string) *Stream {
	at := slices.IndexFunc(s.Streams, func(one Stream) bool { return one.Name == name })
	if at < 0 {
		return nil
	}
	return &s.Streams[at]
}

// Folders returns the folder of each stream in a server's store directory. There
// are none when there is no store.
func Folders(store string) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(escaped(store), "jetstream", "*", streamsFolder, "*"))
	return slices.DeleteFunc(folders, func(folder string) bool { return strings.HasPrefix(filepath.Base(folder), ".") }), err // those are being deleted
}

// escaped keeps the characters of a path from being taken for a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Sizes returns how many bytes of a block somebody remembers the digest of.
type Sizes func(stream string, block uint32) int64

// Read reads every block of every stream in a server's store directory, as fast as the
// disk and the processors go, until ctx ends. Seen is told the bytes that were read, one
// call at a time.
func Read(ctx context.Context, store string, remembered Sizes, seen func(bytes int64)) (*Store, error) {
	folders, err := Folders(store)
	if err != nil {
		return nil, fmt.Errorf("read the ledger's files: %w", err)
	}
	all := &Store{Streams: make([]Stream, len(folders))}
	var telling sync.Mutex
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, folder := range folders {
		stream := &all.Streams[i]
		if err = stream.open(folder); err != nil {
			break
		}
		for j := range stream.Blocks {
			readers.Go(func() error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				block := &stream.Blocks[j]
				read, err := readBlockFile(stream.Name, folder, block.Index, remembered(stream.Name, block.Index))
				*block = read
				telling.Lock()
				defer telling.Unlock()
				seen(read.Size)
				return err
			})
		}
	}
	if err = errors.Join(err, readers.Wait()); err != nil {
		return nil, fmt.Errorf("read the ledger's files: %w", err)
	}
	for i := range all.Streams {
		all.Streams[i].sum()
	}
	slices.SortFunc(all.Streams, func(a, b Stream) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// ReadMeta reads what describes the streams of a store, and none of their blocks.
func ReadMeta(store string) ([]Stream, error) {
	folders, err := Folders(store)
	streams := make([]Stream, len(folders))
	for i, folder := range folders {
		streams[i].readMeta(folder)
	}
	return streams, err
}

// open reads what describes a stream, and lists its blocks.
func (s *Stream) open(folder string) error {
	s.readMeta(folder)
	entries, err := os.ReadDir(filepath.Join(folder, blocksFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if index, ok := blockIndex(entry.Name()); ok {
			s.Blocks = append(s.Blocks, Block{Index: index})
		}
	}
	slices.SortFunc(s.Blocks, func(a, b Block) int { return int(a.Index) - int(b.Index) })
	return nil
}

func blockIndex(file string) (uint32, bool) {
	digits, is := strings.CutSuffix(file, blockSuffix)
	index, err := strconv.ParseUint(digits, 10, 32)
	return uint32(index), is && err == nil
}

// BlockFile is the file of a block in a stream's folder.
func BlockFile(folder string, index uint32) string {
	return filepath.Join(folder, blocksFolder, strconv.FormatUint(uint64(index), 10)+blockSuffix)
}

// ReadEnds is Read for a store that was just stopped: of all blocks but the last of each
// stream that holds anything it says no more than size and checksum.
func ReadEnds(store string) (*Store, error) {
	folders, err := Folders(store)
	all := &Store{Streams: make([]Stream, len(folders))}
	for i, folder := range folders {
		if err == nil {
			err = all.Streams[i].open(folder)
		}
		if err == nil {
			err = all.Streams[i].readEnd()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger's files: %w", err)
	}
	return all, nil
}

func (s *Stream) readEnd() error {
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		var err error
		if s.Last == 0 {
			s.Blocks[i], err = readBlockFile(s.Name, s.Folder, s.Blocks[i].Index, 0)
			s.sum()
		} else {
			s.Blocks[i], err = readBlockEnd(s.Folder, s.Blocks[i].Index)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readBlockEnd(folder string, index uint32) (Block, error) {
	file, err := os.Open(BlockFile(folder, index))
	if err != nil {
		return Block{}, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return Block{}, err
	}
	last := make([]byte, min(checksumSize, info.Size()))
	if _, err = file.ReadAt(last, info.Size()-int64(len(last))); err != nil {
		return Block{}, err
	}
	return Block{Index: index, Size: info.Size(), Whole: info.Size(), Checksum: ending(last)}, nil
}

func readBlockFile(stream, folder string, index uint32, remembered int64) (Block, error) {
	content, err := os.ReadFile(BlockFile(folder, index))
	if err != nil {
		return Block{Index: index}, err
	}
	return readBlock(stream, index, content, remembered)
}

// readMeta reads what the server has written of the stream's settings. It compares the
// checksum as the server does, which passes a stream over whose checksum differs.
func (s *Stream) readMeta(folder string) {
	s.Name, s.Folder = filepath.Base(folder), folder
	content, err := readIfThere(filepath.Join(s.Folder, metaFile))
	sum, failed := readIfThere(filepath.Join(s.Folder, metaSumFile))
	switch s.Bare = content == nil && sum == nil; {
	case err != nil || failed != nil:
		s.Meta = "the files of its settings cannot be read"
		return
	case s.Bare:
		return
	}
	s.Settings, s.Sum = string(content), string(sum)
	var settings struct {
		DenyDelete bool              `json:"deny_delete"`
		DenyPurge  bool              `json:"deny_purge"`
		Discard    string            `json:"discard"`
		MaxAge     int64             `json:"max_age"`
		MaxBytes   int64             `json:"max_bytes"`
		PerSubject int64             `json:"max_msgs_per_subject"`
		Metadata   map[string]string `json:"metadata"`
	}
	if err = json.Unmarshal(content, &settings); err != nil {
		s.Meta = "the file of its settings is damaged"
		return
	}
	s.Metadata, s.MaxBytes = settings.Metadata, settings.MaxBytes
	s.Whole = settings.DenyDelete && settings.DenyPurge && settings.Discard == "new" && settings.MaxAge == 0 && settings.PerSubject <= 0
	if s.Meta == "" && s.Sum != metaChecksum(s.Name, content) {
		s.Meta = "the checksum of its settings does not hold"
	}
}

// Holes are the sequences that are missing between, before and in the blocks of a stream
// that forgets nothing.
func (s *Stream) Holes() (holes []Gap) {
	if !s.Whole {
		return nil
	}
	last := uint64(0)
	for i := range s.Blocks {
		block := &s.Blocks[i]
		if block.First == 0 {
			continue
		}
		if block.First > last+1 {
			holes = append(holes, Gap{First: last + 1, Last: block.First - 1})
		}
		holes, last = append(holes, block.Gaps...), block.Last
	}
	return holes
}

// sum adds up what the blocks hold.
func (s *Stream) sum() {
	for i := range s.Blocks {
		block := &s.Blocks[i]
		s.Last = max(s.Last, block.Last, block.removed)
		if block.First != 0 {
			s.LastTime = block.LastTime
		}
	}
}
