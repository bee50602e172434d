//go:build unix

package embedded

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user that a file belongs to; -1 is unknown.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
