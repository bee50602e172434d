package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"podium/agents/exec"
	"podium/bus/memory"
)

// burrow makes folders in folders in out/, as many as its argument says, with a file in the last.
func burrow(argument string) {
	depth, _ := strconv.Atoi(argument)
	if err := os.Chdir(filepath.Join(os.Getenv("PODIUM_DIR"), "out")); err != nil {
		os.Exit(73)
	}
	for range depth {
		if os.Mkdir("d", 0o700) != nil || os.Chdir("d") != nil {
			os.Exit(73)
		}
	}
	if err := os.WriteFile("note.txt", []byte("below"), 0o400); err != nil || os.Chmod(".", 0o500) != nil {
		os.Exit(73)
	}
	fmt.Fprintln(os.Stdout, "done")
}

// link makes links in out/, as many as its argument says.
func link(argument string) {
	count, _ := strconv.Atoi(argument)
	for n := range count {
		if os.Symlink("x", filepath.Join(os.Getenv("PODIUM_DIR"), "out", strconv.Itoa(n))) != nil {
			os.Exit(73)
		}
	}
	fmt.Fprintln(os.Stdout, "done")
}

// TestFoldersInFolders: files in a few folders are kept. Of folders without an end in one another it is said that they are left
// out, and nothing of them stays on the disk, however long their path is.
func TestFoldersInFolders(t *testing.T) {
	t.Parallel()
	for depth, kept := range map[int]bool{0: true, 31: true, 33: false, 5000: false} {
		folder, request := t.TempDir(), newRequest()
		request.Artifacts = memory.New(1).Artifacts()
		agent := program(t, "burrow:"+strconv.Itoa(depth), func(config *exec.Config) { config.Files = folder })
		outcome, err := agent.Handle(t.Context(), request, new(journal).report)
		if err != nil {
			t.Fatalf("%d folders: %v", depth, err)
		}
		if kept != (len(outcome.Deliverables) == 1) || kept != (len(outcome.Issues) == 0) {
			t.Errorf("%d folders: %d files, issues %v", depth, len(outcome.Deliverables), outcome.Issues)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%d folders: %d are left: %v", depth, len(left), err)
		}
	}
}

// TestWhatIsLeftOutIsBounded: of many things that are left out, a few are named, and all others are counted.
func TestWhatIsLeftOutIsBounded(t *testing.T) {
	t.Parallel()
	outcome, err := program(t, "link:1000", func(*exec.Config) {}).Handle(t.Context(), newRequest(), new(journal).report)
	if err != nil {
		t.Fatal(err)
	}
	if count := len(outcome.Issues); count != 65 || !strings.HasPrefix(outcome.Issues[count-1].Description, "936 ") {
		t.Errorf("%d issues, the last: %v", count, outcome.Issues[max(count, 1)-1])
	}
}
