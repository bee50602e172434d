package lease

import (
	"strings"
	"syscall"
)

// boot names this run of the kernel; empty is unknown.
func boot() string {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return strings.TrimRight(id, "\x00")
}
