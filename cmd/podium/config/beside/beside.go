// Package beside reads what lies beside a configuration and is named in it.
package beside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// A missingError says that there is no such file, and is fs.ErrNotExist.
type missingError struct{ name string }

// Error implements error.
func (m *missingError) Error() string { return "there is no file " + m.name }

// Is implements what errors.Is asks.
func (*missingError) Is(target error) bool { return target == fs.ErrNotExist }

// Read reads a regular file of a folder, within a bound in bytes. The error is fs.ErrNotExist when there is none.
func Read(folder fs.FS, name string, limit int64) ([]byte, error) {
	file, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{name}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	about, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", name)
	case about.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes; it may have %d", name, about.Size(), limit)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
