package exec

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gofrs/flock"

	"podium/bus"
	"podium/bus/agent"
	"podium/schemas"
)

const (
	inFolder  = "in"
	outFolder = "out"
	lockName  = ".lock"
	prefix    = "request-"
)

// A folder is what a program gets as PODIUM_DIR: the request as files, and room for what it makes. It is gone
// when the request has ended; one that a killed process has left behind is swept by the next one.
type folder struct {
	path string
	out  *os.Root // opened before the program can put anything in its place
	lock *flock.Flock
}

// newFolder makes the folder of a request, readable by nobody else.
func (a *Agent) newFolder() (*folder, error) {
	if err := os.MkdirAll(a.config.Files, 0o700); err != nil {
		return nil, cause(err)
	}
	a.swept.Do(func() { sweep(a.config.Files, time.Now()) })
	path, err := os.MkdirTemp(a.config.Files, prefix)
	if err != nil {
		return nil, cause(err)
	}
	made := &folder{path: path, lock: flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600))}
	if _, err = made.lock.TryLock(); err == nil {
		err = errors.Join(os.Mkdir(made.in(""), 0o700), os.Mkdir(filepath.Join(path, outFolder), 0o700))
	}
	if err == nil {
		made.out, err = os.OpenRoot(filepath.Join(path, outFolder))
	}
	if err != nil {
		made.remove()
		return nil, cause(err)
	}
	return made, nil
}

func (f *folder) in(name string) string { return filepath.Join(f.path, inFolder, name) }

// remove deletes the folder. What cannot be deleted now is swept later.
func (f *folder) remove() {
	if f.out != nil {
		_ = f.out.Close()
	}
	_ = f.lock.Close()
	_ = removeAll(f.path)
}

// removeAll removes a folder with all that is in it, also what a program has taken its own rights from. It moves each folder that it
// finds to the top before it looks into it: a path has some thousand bytes at most, and a program may make longer ones.
func removeAll(path string) error {
	root, err := os.OpenRoot(path)
	if errors.Is(err, os.ErrPermission) {
		_ = os.Chmod(path, 0o700) //nolint:gosec // a folder is entered by x
		root, err = os.OpenRoot(path)
	}
	if err != nil {
		return os.RemoveAll(path) // it is no folder, or gone
	}
	defer func() { _ = root.Close() }()
	moved, prefix := 0, rand.Text() // of names that the program cannot have given
	for pending := []string{"."}; len(pending) > 0; pending = pending[1:] {
		names, err := readNames(root, pending[0])
		if err != nil {
			return err
		}
		for _, name := range names {
			name = filepath.Join(pending[0], name)
			entry, err := root.Lstat(name)
			switch {
			case err != nil:
			case !entry.IsDir():
				err = root.Remove(name)
			default:
				_ = root.Chmod(name, 0o700) // to be moved, a folder has to be written
				up := prefix + strconv.Itoa(moved)
				moved++
				err = root.Rename(name, up)
				pending = append(pending, up)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if pending[0] != "." {
			if err := root.Remove(pending[0]); err != nil {
				return err
			}
		}
	}
	return os.Remove(path)
}

// readNames returns the names in a folder.
func readNames(root *os.Root, name string) ([]string, error) {
	folder, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	return folder.Readdirnames(-1)
}

// sweep removes what killed processes have left below base: folders that nobody has locked. One
// that is being made at this moment is younger than a minute.
func sweep(base string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	for _, path := range left {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || now.Sub(info.ModTime()) < time.Minute {
			continue
		}
		if info, err := os.Lstat(filepath.Join(path, lockName)); err != nil || !info.Mode().IsRegular() {
			continue // it is none of ours
		}
		lock := flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600))
		if locked, err := lock.TryLock(); err == nil && locked {
			_ = lock.Close()
			_ = removeAll(path)
		}
	}
}

// An indexEntry is one file of in/, with what it is called outside.
type indexEntry struct {
	File string `json:"file,omitzero"` // absent when it is not there
	schemas.TaskAttachment
	Missing string `json:"missing,omitzero"` // why it is not there: too_large or unavailable
}

// write puts the request into the folder: as JSON, its words, its arguments, and its files under names
// of ours, since those outside are data and no paths. Files that are larger than limit together are
// left out and named in the index. It fails when a file cannot be read now.
func (f *folder) write(ctx context.Context, request *agent.Request, body []byte, limit int64) error {
	task := request.Task()
	words := cmp.Or(task.Context.Request, task.Description)
	arguments := []byte(task.Context.Arguments)
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	index := make([]indexEntry, 0, len(task.Context.Attachments))
	for i := range task.Context.Attachments {
		entry, err := f.fetch(ctx, request, &task.Context.Attachments[i], i+1, &limit)
		if err != nil {
			return err
		}
		index = append(index, entry)
	}
	listed, err := schemas.Marshal(index)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"request.json": body, "words.txt": []byte(words), "arguments.json": arguments, filepath.Join(inFolder, "index.json"): listed,
	} {
		if err := os.WriteFile(filepath.Join(f.path, name), content, 0o600); err != nil {
			return fmt.Errorf("write the request as files: %w", cause(err))
		}
	}
	return nil
}

// fetch puts one file into in/.
func (f *folder) fetch(ctx context.Context, request *agent.Request, file *schemas.TaskAttachment, number int, room *int64) (indexEntry, error) {
	entry := indexEntry{TaskAttachment: *file}
	entry.Grant = ""
	if file.Size > *room {
		entry.Missing = "too_large"
		return entry, nil
	}
	var written int64
	name := fmt.Sprintf("%02d%s", number, extension(file.Name))
	content, err := request.Open(ctx, file.ID)
	if err == nil {
		written, err = copyTo(f.in(name), content, *room)
		err = errors.Join(err, content.Close())
	}
	switch {
	case bus.IsAny(err, bus.ErrNotFound, bus.ErrNotGranted, bus.ErrCorrupt, bus.ErrTooLarge):
		_ = os.Remove(f.in(name))
		entry.Missing = "unavailable"
		return entry, nil
	case err != nil:
		return entry, fmt.Errorf("fetch a file of the request: %w", err)
	}
	*room -= written
	entry.File = inFolder + "/" + name
	return entry, nil
}

func copyTo(path string, content io.Reader, limit int64) (written int64, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, cause(err)
	}
	written, err = io.Copy(file, io.LimitReader(content, limit+1))
	if err == nil && written > limit {
		err = bus.ErrTooLarge
	}
	return written, errors.Join(err, file.Close())
}

// extension is the ending of a name outside, when it is a plain one: programs go by it.
func extension(name string) string {
	ending := strings.ToLower(filepath.Ext(name))
	plain := len(ending) > 1 && len(ending) <= 9 && !strings.ContainsFunc(ending[1:], func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if !plain {
		return ".bin"
	}
	return ending
}

// size is how many bytes a program has made so far, and how many files.
func (f *folder) size() (bytes int64, files int) {
	folders, _ := f.walk(func(_ string, entry os.DirEntry) bool {
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		files++
		return files < maxEntries
	})
	return bytes, files + folders
}

// walk yields everything in out/ that is no folder, sorted, without following links, until yield says no. A folder below
// maxDepth others, or behind maxEntries others, is yielded as if it were none. It returns how many folders it has looked into.
func (f *folder) walk(yield func(name string, entry os.DirEntry) bool) (folders int, err error) {
	pending := []string{"."}
	for ; len(pending) > 0; folders++ {
		directory := pending[0]
		pending = pending[1:]
		opened, err := f.out.OpenFile(directory, os.O_RDONLY|notFollowed, 0)
		if err != nil {
			return folders, cause(err)
		}
		entries, err := opened.ReadDir(maxEntries)
		_ = opened.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			return folders, cause(err)
		}
		slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, entry := range entries {
			name := filepath.ToSlash(filepath.Join(directory, entry.Name()))
			if entry.IsDir() && folders+len(pending) < maxEntries && strings.Count(name, "/") < maxDepth {
				pending = append(pending, name)
			} else if !yield(name, entry) {
				return folders, nil
			}
		}
	}
	return folders, nil
}

const (
	// maxEntries bounds what is looked at of out/, and of each folder in it. A program that makes more is stopped.
	maxEntries = 1 << 16
	// maxDepth bounds the folders that are in one another. What is below them is left out.
	maxDepth = 32
)
