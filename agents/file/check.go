package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Check reports whether files could be written: the directory is there and lets us write, or could be made.
func (a *Agent) Check(context.Context) error {
	for directory := filepath.Clean(a.config.Directory); ; directory = filepath.Dir(directory) {
		info, err := os.Stat(directory)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(directory) != directory:
			continue // it is made when the first file is written
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no directory", directory)
		}
		if err = writable(directory); err != nil {
			return fmt.Errorf("nothing can be written in %s: %w", directory, err)
		}
		return nil
	}
}
