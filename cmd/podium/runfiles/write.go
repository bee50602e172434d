package runfiles

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"podium/bus"
)

// A Written says what has become of one file.
type Written struct {
	File

	Place string `json:"place"`         // where it is
	Kept  bool   `json:"kept,omitzero"` // it was there already, with the same content
}

// A RefusedError names the files that are not written, and so none of the others is.
type RefusedError struct{ Faults []string }

func (e *RefusedError) Error() string {
	return "nothing is written:\n  " + strings.Join(e.Faults, "\n  ")
}

// Write puts files below a directory, which it makes where it is missing. It never leads out of it, neither by a name nor by a link, and leaves what is there with
// another content unless force is given. Each file is there as a whole or not at all. The error is a RefusedError before anything is written.
func Write(ctx context.Context, artifacts bus.Artifacts, files []File, directory string, force bool) ([]Written, error) {
	if err := os.MkdirAll(directory, 0o777); err != nil { //nolint:gosec // as mkdir does: umask says who may read it
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	there, refused := make([]bool, len(files)), RefusedError{}
	for i := range files {
		var fault string
		if there[i], fault = look(root, &files[i], force); fault != "" {
			refused.Faults = append(refused.Faults, fault)
		}
	}
	if len(refused.Faults) > 0 {
		return nil, &refused
	}
	written := make([]Written, 0, len(files))
	for i := range files {
		if !there[i] {
			if err = write(ctx, artifacts, root, &files[i]); err != nil {
				return written, fmt.Errorf("%s: %w", files[i].Path, err)
			}
		}
		written = append(written, Written{files[i], filepath.Join(directory, filepath.FromSlash(files[i].Path)), there[i]})
	}
	return written, nil
}

// look reports whether a file is there already, or what is wrong with writing it.
func look(root *os.Root, file *File, force bool) (there bool, fault string) {
	switch {
	case !Local(file.Path):
		return false, fmt.Sprintf("%q of task %s is no path below a directory", file.Path, file.Task)
	case file.Conflicts:
		return false, fmt.Sprintf("%s has versions that stand beside each other, one by task %s: --task TASK says which", file.Path, file.Task)
	}
	found, err := root.Open(filepath.FromSlash(file.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, ""
	}
	if err != nil {
		return false, fmt.Sprintf("%s cannot be looked at: %v", file.Path, err)
	}
	defer func() { _ = found.Close() }()
	if about, err := found.Stat(); err != nil || !about.Mode().IsRegular() {
		return false, file.Path + " is there and is no file"
	}
	sum := sha256.New()
	_, err = io.Copy(sum, found)
	switch same := err == nil && hex.EncodeToString(sum.Sum(nil)) == file.SHA256; {
	case same:
		return true, ""
	case force:
		return false, ""
	}
	return false, file.Path + " is there with another content: --force overwrites it"
}

func write(ctx context.Context, artifacts bus.Artifacts, root *os.Root, file *File) (err error) {
	content, err := artifacts.Get(ctx, file.artifact)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	place := filepath.FromSlash(file.Path)
	if err = root.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(place), ".podium-"+rand.Text())
	part, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(beside))
		}
	}()
	_, err = io.Copy(part, content) // which verifies the hash
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	return root.Rename(beside, place)
}
