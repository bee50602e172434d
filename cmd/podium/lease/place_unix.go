//go:build linux || darwin

package lease

import (
	"fmt"
	"os"
	"syscall"
)

// placeOf names a file for as long as the kernel runs, whatever it is called and in
// whatever container: by the boot, the file system, and the number of the file in it.
// As long as a process has the file open, no other file has that name.
func placeOf(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	boot := boot()
	if !ok || boot == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", boot, stat.Dev, stat.Ino)
}
