package filestore

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// forget drops a file's pages from the page cache.
func forget(file *os.File) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err = connection.Control(func(fd uintptr) {
		refused = unix.Fadvise(int(fd), 0, 0, unix.FADV_DONTNEED) //nolint:gosec // a descriptor
	}); err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("drop %s from the page cache: %w", file.Name(), refused)
	}
	return nil
}
