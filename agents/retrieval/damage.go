package retrieval

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/blevesearch/bleve/v2/util"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// errDamaged reports an index that is not as it was written.
var errDamaged = errors.New("the index is damaged")

// A version of a file is the one that was looked at.
type version struct{ size, modified int64 }

func versionOf(about fs.FileInfo) version {
	return version{about.Size(), about.ModTime().UnixNano()}
}

// guarded does what reads the index. Of what is damaged the library maps files into memory that are shorter than it thinks, and follows offsets
// that lead anywhere: without this the whole process would end, and again with the next attempt.
func guarded(work func() error) error {
	brokenOff, err := attempted(work)
	if brokenOff {
		runtime.GC() // closes the files that the library has left open and locked: whoever asks next would be told that they are in use
	}
	return err
}

func attempted(work func() error) (brokenOff bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			brokenOff, err = true, errDamaged
		}
	}()
	return false, work()
}

// whole fails on an index of which something is missing or another one. The library itself takes an older state when the newest cannot be read,
// and with it forgets what was learned since; so it is held here to what the newest is made of. It is fs.ErrNotExist when there is no index.
func (a *Agent) whole() error {
	if _, err := os.Stat(a.config.Directory); err != nil {
		return err
	}
	store := filepath.Join(a.config.Directory, "store")
	if root, err := os.Stat(filepath.Join(store, "root.bolt")); err == nil && root.Size() == 0 {
		return errDamaged // to open it would make a new one
	}
	roots, err := bbolt.Open(filepath.Join(store, "root.bolt"), 0, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: min(patience, a.config.Wait)})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w: %w", errInUse, err)
	case errors.Is(err, fs.ErrNotExist):
		return errDamaged
	case isOfSystem(err):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	defer func() { _ = roots.Close() }()
	return roots.View(func(tx *bbolt.Tx) error {
		if about, err := os.Stat(roots.Path()); err != nil || about.Size() < tx.Size() {
			return errors.Join(errDamaged, err) // pages are missing that only a writer reads
		}
		if err := tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error { return readable(bucket) }); err != nil {
			return err
		}
		snapshots := tx.Bucket(util.BoltSnapshotsBucket)
		if snapshots == nil {
			return nil
		}
		for cursor, key := snapshots.Cursor(), []byte(nil); ; {
			if key == nil {
				key, _ = cursor.Last()
			} else {
				key, _ = cursor.Prev()
			}
			if newest := snapshots.Bucket(key); key == nil || newest != nil {
				return a.segmentsOf(newest, store)
			}
		}
	})
}

// readable reads each page of a bucket. One that is damaged has to be met here: the library that meets it keeps the file open and locked.
func readable(bucket *bbolt.Bucket) error {
	return bucket.ForEach(func(key, value []byte) error {
		if value != nil {
			return nil
		}
		return readable(bucket.Bucket(key))
	})
}

// segmentsOf holds the segments of a state to their sums.
func (a *Agent) segmentsOf(state *bbolt.Bucket, store string) error {
	if state == nil {
		return nil
	}
	return state.ForEachBucket(func(key []byte) error {
		name := state.Bucket(key).Get(util.BoltPathKey)
		if name == nil {
			return nil
		}
		return a.unchanged(filepath.Join(store, filepath.Base(string(name))))
	})
}

// isOfSystem reports whether an error is one of the operating system, which says nothing of what a file holds.
func isOfSystem(err error) bool {
	_, is := errors.AsType[*fs.PathError](err)
	return is
}

// unchanged fails on a file whose last four bytes are not the sum of those before. It looks once, for as long as the file is the same.
func (a *Agent) unchanged(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errDamaged
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	about, err := file.Stat()
	if err != nil {
		return err
	}
	if now := versionOf(about); a.held[path] != now {
		sum, last := crc32.NewIEEE(), make([]byte, crc32.Size)
		if _, err := io.CopyN(sum, file, max(0, now.size-crc32.Size)); err != nil {
			return err
		}
		if _, err := io.ReadFull(file, last); err != nil || binary.BigEndian.Uint32(last) != sum.Sum32() {
			return errDamaged
		}
		a.held[path] = now
	}
	return nil
}
