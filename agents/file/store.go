package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"podium/schemas"
)

const maxNumbers = 1000 // of files with one name

// A Kept is a file that was written.
type Kept struct {
	Name   string `json:"name"` // inside of the folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// A record says what is written for an effect. It is there before the first file of the effect is.
type record struct {
	Files []Kept `json:"files"`
	Done  bool   `json:"done,omitzero"` // all of them are there; what becomes of them afterwards is not ours
}

// action is what a permit is asked for: the files, by what they hold.
func (r *record) action() schemas.Action {
	names := make([]string, len(r.Files))
	for i := range r.Files {
		names[i] = r.Files[i].Name
	}
	body, err := schemas.Marshal(map[string][]Kept{"files": r.Files})
	if err != nil {
		body = nil // names and hashes can be written
	}
	return schemas.Action{Summary: strings.Join(names, ", "), Data: body}
}

// A folder is where files are written.
type folder struct{ root *os.Root }

func openFolder(directory string) (*folder, error) {
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(recordFolder, 0o700); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &folder{root}, nil
}

func (f *folder) Close() error { return f.root.Close() }

const (
	lockName  = "lock"
	lockPause = 5 * time.Millisecond // between two looks at a lock that another has
)

// lock waits until nobody else, in this process or another, has the folder locked.
func (f *folder) lock(ctx context.Context) (unlock func(), err error) {
	lock := flock.New(filepath.Join(f.root.Name(), recordFolder, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

func recordName(effect string) string { return path.Join(recordFolder, effect+".json") }

func temporaryName(effect string, n int) string {
	return path.Join(recordFolder, fmt.Sprintf("%s.%d.part", effect, n))
}

// recorded is what was begun for an effect; nil is nothing.
func (f *folder) recorded(effect string) (*record, error) {
	body, err := f.root.ReadFile(recordName(effect))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is on record, and nothing is wrong
	}
	if err != nil {
		return nil, err
	}
	var found record
	if err := schemas.Unmarshal(body, &found); err != nil {
		return nil, fmt.Errorf("the record %s cannot be read: %w", recordName(effect), err)
	}
	return &found, nil
}

// put stores the record of an effect, for good.
func (f *folder) put(effect string, about *record) error {
	body, err := schemas.Marshal(about)
	if err != nil {
		return err
	}
	temporary := recordName(effect) + ".part"
	if err := f.write(temporary, func(to io.Writer) error { _, err := to.Write(body); return err }); err != nil {
		return err
	}
	if err := f.root.Rename(temporary, recordName(effect)); err != nil {
		return err
	}
	return f.sync(recordFolder)
}

// prepare writes the content of the n-th file of an effect where nobody looks for it yet.
func (f *folder) prepare(effect string, n int, content func(io.Writer) error) (Kept, error) {
	digest := sha256.New()
	var size counter
	err := f.write(temporaryName(effect, n), func(to io.Writer) error { return content(io.MultiWriter(to, digest, &size)) })
	return Kept{Size: int64(size), SHA256: hex.EncodeToString(digest.Sum(nil))}, err
}

// write makes a file anew, and has it on the disk.
func (f *folder) write(name string, content func(io.Writer) error) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	if err = content(file); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// publish gives prepared files their names, which are in the record before they are in the folder.
func (f *folder) publish(effect string, about *record) error {
	wanted := make([]string, len(about.Files))
	for i := range about.Files {
		wanted[i] = about.Files[i].Name
		if err := f.root.MkdirAll(path.Dir(wanted[i]), 0o750); err != nil {
			return err
		}
	}
	for i := range about.Files {
		if err := f.name(effect, about, i, wanted[i]); err != nil {
			return err
		}
		if err := f.sync(path.Dir(about.Files[i].Name)); err != nil {
			return err
		}
	}
	if err := f.sync("."); err != nil {
		return err
	}
	about.Done = true
	if err := f.put(effect, about); err != nil {
		return err
	}
	f.forget(effect, len(about.Files))
	return nil
}

// name gives the n-th file the name that is wanted, or the first one with a number that is free.
func (f *folder) name(effect string, about *record, n int, wanted string) error {
	told := &about.Files[n]
	for number := 1; number <= maxNumbers; number++ {
		told.Name = numbered(wanted, number)
		if _, err := f.root.Lstat(told.Name); err == nil {
			if f.has(effect, n, told.Name) {
				return nil
			}
			continue
		}
		if err := f.put(effect, about); err != nil {
			return err
		}
		err := f.root.Link(temporaryName(effect, n), told.Name)
		if err == nil || !errors.Is(err, fs.ErrExist) { // somebody else may have been faster
			return err
		}
	}
	return fmt.Errorf("%d files have this name", maxNumbers)
}

// forget removes what was prepared.
func (f *folder) forget(effect string, files int) {
	for i := range files {
		_ = f.root.Remove(temporaryName(effect, i))
	}
}

// prepared reports whether the contents of a record are there as they were when it was written.
func (f *folder) prepared(effect string, about *record) bool {
	for i := range about.Files {
		if file, err := f.root.Lstat(temporaryName(effect, i)); err != nil || file.Size() != about.Files[i].Size {
			return false
		}
	}
	return len(about.Files) > 0
}

// has reports whether a name is that of the n-th file of an effect: it was given before a crash.
func (f *folder) has(effect string, n int, name string) bool {
	prepared, err := f.root.Lstat(temporaryName(effect, n))
	if err != nil {
		return false
	}
	named, err := f.root.Lstat(name)
	return err == nil && os.SameFile(prepared, named)
}

// sweep removes what was prepared long ago for effects that nobody repeats any more.
func (f *folder) sweep(before time.Time) error {
	entries, err := fs.ReadDir(f.root.FS(), recordFolder)
	for _, entry := range entries {
		about, statErr := entry.Info()
		if statErr == nil && path.Ext(entry.Name()) == ".part" && about.ModTime().Before(before) {
			err = errors.Join(err, f.root.Remove(path.Join(recordFolder, entry.Name())))
		}
	}
	return err
}

// sync has the names in a directory on the disk.
func (f *folder) sync(name string) error {
	if runtime.GOOS == "windows" {
		return nil // its directories cannot be synced, and need not be
	}
	directory, err := f.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

type counter int64

// Write implements io.Writer.
func (c *counter) Write(chunk []byte) (int, error) {
	*c += counter(len(chunk))
	return len(chunk), nil
}
