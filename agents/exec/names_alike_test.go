package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// alike makes two files whose names differ in what no name may hold.
func alike(string) {
	out := filepath.Join(os.Getenv("PODIUM_DIR"), "out")
	for n, name := range []string{"a\x01.txt", "a\x02.txt"} {
		if err := os.WriteFile(filepath.Join(out, name), fmt.Append(nil, n), 0o600); err != nil {
			os.Exit(73)
		}
	}
}

// TestFilesWithNamesAlikeAreBothKept: no file takes the place of another one because their names are written alike.
func TestFilesWithNamesAlikeAreBothKept(t *testing.T) {
	t.Parallel()
	request := withFiles(t)
	outcome, err := program(t, "alike").Handle(t.Context(), request, new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for i := range outcome.Deliverables {
		made = append(made, contentOf(t, request, &outcome.Deliverables[i]))
	}
	if strings.Join(made, " ") != "0 1" {
		t.Errorf("of 0 and 1, it has made %q, and says %+v", made, outcome.Issues)
	}
}
