package file_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"podium/schemas"
)

// killed names the directory into which the child of TestKill writes.
const killed = "PODIUM_FILE_KILLED"

const effects = 150

// TestKill: a process is killed again and again while it writes, by kill -9, and at last every effect has one whole file, and nothing else is there.
func TestKill(t *testing.T) {
	if directory := os.Getenv(killed); directory != "" {
		writeAll(t, directory)
		return
	}
	t.Parallel()
	directory := t.TempDir()
	begin := func() *exec.Cmd {
		child := exec.Command(os.Args[0], "-test.run=^TestKill$") //nolint:noctx // it is killed, or waited for
		child.Env = append(os.Environ(), killed+"="+directory)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		return child
	}
	deaths := 0
	for round := range 25 {
		child := begin()
		timer := time.AfterFunc(time.Duration(60+13*round)*time.Millisecond, func() { _ = child.Process.Kill() })
		if err := child.Wait(); err != nil {
			deaths++
		}
		timer.Stop()
	}
	if child := begin(); child.Wait() != nil {
		t.Fatal("the last process has not ended well")
	}
	files := written(t, directory)
	seen := map[string]int{}
	for name, content := range files {
		number, _, _ := strings.Cut(content, "\n")
		if seen[number]++; content != contentOf(number) {
			t.Errorf("%s is not whole: %d bytes", name, len(content))
		}
	}
	for i := range effects {
		if seen[strconv.Itoa(i)] != 1 {
			t.Errorf("effect %d has %d files", i, seen[strconv.Itoa(i)])
		}
	}
	if len(files) != effects || deaths < 5 {
		t.Errorf("%d files, after %d kills", len(files), deaths)
	}
}

func contentOf(number string) string {
	return number + "\n" + strings.Repeat(number+" ", 2000) + "end\n"
}

// writeAll writes a file for each effect; the time in names is another one in each process.
func writeAll(t *testing.T, directory string) {
	t.Helper()
	tested := open(t, directory, fmt.Sprintf("{date}/%d.md", os.Getpid()))
	for i := range effects {
		request := asked(schemas.TaskContext{Request: contentOf(strconv.Itoa(i))})
		request.EffectID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(i))).String()
		if _, err := tested.Handle(t.Context(), request, silent); err != nil {
			t.Fatal(err)
		}
	}
}
