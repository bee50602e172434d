package embedded

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOwnerIsUnknown: what is not the number of a process names none.
func TestOwnerIsUnknown(t *testing.T) {
	t.Parallel()
	lock := &storeLock{pid: filepath.Join(t.TempDir(), "lock.pid")}
	for content, want := range map[string]int{"": 0, "x": 0, "99999999999999999999": 0, "77\n": 77} {
		if err := os.WriteFile(lock.pid, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lock.owner(); got != want {
			t.Errorf("%q names process %d, want %d", content, got, want)
		}
	}
}
