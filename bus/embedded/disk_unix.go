//go:build unix

package embedded

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// leastFiles is how many files a file system has to have room for.
const leastFiles = 64

func free(path string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, fmt.Errorf("look how much room %s has: %w", path, err)
	}
	if stat.Files > 0 && uint64(stat.Ffree) < leastFiles { //nolint:unconvert,gosec // its type is another on other systems
		return 0, nil
	}
	return max(int64(stat.Bavail)*int64(stat.Bsize), 0), nil //nolint:unconvert,gosec // the same
}
