// Package wholefile writes files that are there as a whole or not at all,
// whatever ends the process or the power of the machine: the content is flushed
// before the file gets its name, and the folder before the call returns.
//
// Files are readable by this user only (mode 0600). On Windows folders cannot be
// flushed: there a name may be gone after a loss of power, and never a part of a file.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes a file in the place of what has its name.
func Replace(name string, content []byte) error {
	return write(name, bytesOf(content), os.Rename)
}

// Create writes a file, and fails with fs.ErrExist when one has its name. Of several
// processes that try, one succeeds.
func Create(name string, content []byte) error {
	return write(name, bytesOf(content), os.Link)
}

// Write writes what fill yields. It replaces what has the name if overwrite says so, else it fails with fs.ErrExist when something has it.
func Write(name string, overwrite bool, fill func(io.Writer) error) error {
	if overwrite {
		return write(name, fill, os.Rename)
	}
	return write(name, fill, os.Link)
}

func bytesOf(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

func write(name string, fill func(io.Writer) error, give func(draft, name string) error) (err error) {
	folder := filepath.Dir(name)
	draft, err := os.CreateTemp(folder, "."+filepath.Base(name)+"-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if removal := os.Remove(draft.Name()); removal != nil && !errors.Is(removal, os.ErrNotExist) {
			err = errors.Join(err, removal)
		}
	}()
	if err = fill(draft); err == nil {
		err = draft.Sync()
	}
	if err = errors.Join(err, draft.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err = give(draft.Name(), name); err != nil {
		return err
	}
	return flush(folder)
}

// flush makes the names in a folder survive a loss of power.
func flush(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	if err = errors.Join(opened.Sync(), opened.Close()); err != nil {
		return fmt.Errorf("flush %s: %w", folder, err)
	}
	return nil
}
