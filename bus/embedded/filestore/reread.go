package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadFromDisk has the files below a store, and further ones, read from the disk the next time, and not
// from the system's page cache: after a failed flush the cache holds what the disk does not. What is
// in the cache alone is flushed first; an error says that the disk still takes nothing. Systems other
// than Linux flush, and keep the cache.
func ReadFromDisk(store string, further ...string) error {
	for _, name := range further {
		if err := dropCache(name); err != nil {
			return fmt.Errorf("read the ledger's files from the disk: %w", err)
		}
	}
	seen := map[string]bool{}
	var look fs.WalkDirFunc
	look = func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return gone(err)
		case entry.Type()&fs.ModeSymlink != 0: // a part of the store that is on another disk
			target, err := filepath.EvalSymlinks(name)
			if err != nil || seen[target] {
				return gone(err)
			}
			seen[target] = true
			return filepath.WalkDir(target, look)
		case entry.Type().IsRegular():
			return dropCache(name)
		}
		return nil
	}
	if err := filepath.WalkDir(store, look); err != nil {
		return fmt.Errorf("read the ledger's files from the disk: %w", err)
	}
	return nil
}

func dropCache(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return gone(err)
	}
	failed := file.Sync()
	err = forget(file)
	if failed != nil && err == nil { // it told of an earlier error; what is read now is on the disk
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
