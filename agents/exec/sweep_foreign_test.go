package exec_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"podium/agents/exec"
)

// TestSweepLeavesWhatIsNotOurs: without a folder of its own, requests have theirs among the temporary files of everybody. What
// somebody else has there is not removed, whatever it is called.
func TestSweepLeavesWhatIsNotOurs(t *testing.T) {
	base, old := t.TempDir(), time.Now().Add(-time.Hour)
	t.Setenv("TMPDIR", base)
	foreign := filepath.Join(base, "request-for-comments")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	letter := filepath.Join(foreign, "letter.txt")
	if err := os.WriteFile(letter, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(foreign, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := program(t, "print:done", func(config *exec.Config) { config.Files = "" }).Handle(t.Context(), withFiles(t), new(journal).report); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Errorf("the first request has removed a file of somebody else: %v", err)
	}
}
