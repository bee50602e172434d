package embedded

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded/recovery"
)

// WatchFiles remembers what the files of a ledger at rest look like. Changed reports whether they
// have become others since, look the same as at the last call, and nobody is at work on them.
// Without marks they never have: a directory that is being put in its place has none yet, and
// a start there would begin a ledger.
func WatchFiles(data string) (changed func() bool) {
	store := filepath.Join(data, ledgerDir)
	first := outside(data, store)
	last := first
	return func() bool {
		now := outside(data, store)
		same := now == last && recovery.Marked(data)
		if last = now; now == first || !same {
			return false
		}
		release, err := lockToLook(store)
		return err == nil && release() == nil
	}
}

// outside is a digest of the names, sizes and times of a ledger's files.
func outside(data, store string) uint64 {
	digest := fnv.New64a()
	see := func(path string, info fs.FileInfo) {
		_, _ = fmt.Fprintf(digest, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	if info, err := os.Stat(filepath.Join(data, recovery.MarksFile)); err == nil {
		see(recovery.MarksFile, info)
	}
	_ = filepath.WalkDir(filepath.Join(store, "jetstream"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				see(path, info)
			}
		}
		return nil // what cannot be seen does not count
	})
	return digest.Sum64()
}
