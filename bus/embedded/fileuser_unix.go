//go:build unix

package embedded

import (
	"io/fs"
	"syscall"
)

// fileUser returns the user that a file belongs to; -1 is unknown.
func fileUser(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
