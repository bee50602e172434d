package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"podium/schemas"
)

// half makes one file of two, and says no more than that.
func half(string) {
	if err := os.WriteFile(filepath.Join(os.Getenv("PODIUM_DIR"), "out", "first.pdf"), []byte("x"), 0o600); err != nil {
		os.Exit(73)
	}
	fmt.Fprint(os.Stdout, `{"status": "partial"}`)
}

// TestPartialWithFilesAlone: files are a result, and so a program may say that they are a part of it.
func TestPartialWithFilesAlone(t *testing.T) {
	t.Parallel()
	outcome, err := program(t, "half").Handle(t.Context(), withFiles(t), new(journal).report)
	if err != nil || outcome.Status != schemas.StatusPartial || len(outcome.Deliverables) != 1 {
		t.Errorf("%s with %d files: %v", outcome.Status, len(outcome.Deliverables), err)
	}
}
