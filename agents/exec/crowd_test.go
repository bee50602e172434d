package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"podium/agents/exec"
)

// crowd makes more files than are counted, until it is stopped.
func crowd(string) {
	out := filepath.Join(os.Getenv("PODIUM_DIR"), "out")
	for n := range 8000 {
		if err := os.WriteFile(filepath.Join(out, strconv.Itoa(n)), make([]byte, 1<<10), 0o600); err != nil {
			os.Exit(73)
		}
	}
	fmt.Fprintln(os.Stderr, "50% full")
	hang()
}

// TestProgramThatFillsTheDiskWithSmallFilesIsStopped: eight megabytes in 8,000 files are more than twice one, as they are in one file.
func TestProgramThatFillsTheDiskWithSmallFilesIsStopped(t *testing.T) {
	t.Parallel()
	_, err := program(t, "crowd", func(config *exec.Config) { config.MaxFiles, config.Timeout = 1<<20, 2*time.Minute }).
		Handle(t.Context(), withFiles(t), new(journal).report)
	if failure := asFailure(t, err); !failure.Permanent {
		t.Errorf("it went on until it had no more time: %q", failure.Message)
	}
}
