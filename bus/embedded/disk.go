package embedded

import (
	"path/filepath"
	"sync"
	"time"
)

// freeAge is how old the knowledge of what a file system has left may be.
const freeAge = 50 * time.Millisecond

// Free returns a function that says how many bytes the file system of a data directory
// has left for whoever is no administrator. One that has no more files to give has
// nothing left.
func Free(data string) func() (int64, error) {
	store := filepath.Join(data, ledgerDir)
	var (
		mu    sync.Mutex
		bytes int64
		err   error
		at    time.Time
	)
	return func() (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		if at.IsZero() || time.Since(at) >= freeAge {
			bytes, err = free(store)
			at = time.Now()
		}
		return bytes, err
	}
}
