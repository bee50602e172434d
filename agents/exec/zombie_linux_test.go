package exec_test

import (
	"bytes"
	"fmt"
	"os"
)

// isZombie reports whether a process has ended and waits for its parent to notice.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(after, []byte("Z"))
}
