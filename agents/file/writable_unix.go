//go:build unix

package file

import "golang.org/x/sys/unix"

// writable asks the system, without writing anything.
func writable(directory string) error { return unix.Access(directory, unix.W_OK|unix.X_OK) }
