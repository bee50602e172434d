package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Check reports whether the index can be opened. One that is not there yet is made when something is learned, and one
// that a request has open is well.
func (a *Agent) Check(context.Context) error {
	if !a.mu.TryLock() {
		return nil
	}
	defer a.mu.Unlock()
	index, err := a.openIndex(false)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errInUse):
		return nil
	case err != nil:
		return fmt.Errorf("the index cannot be opened: %w", err)
	}
	return index.Close()
}
