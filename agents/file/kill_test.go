package file_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"podium/bus/bustest"
	"podium/schemas"
)

const effects = 150

// TestKill kills a process 25 times while it writes. In the end each effect has one whole file, and there is no other.
func TestKill(t *testing.T) {
	t.Parallel()
	directory, isTest := bustest.Kill(t, bustest.Effects{Test: "TestKill", Count: effects, Rounds: 25, Perform: writeAll})
	if !isTest {
		return
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
	if len(files) != effects {
		t.Errorf("%d files for %d effects", len(files), effects)
	}
}

func contentOf(number string) string {
	return number + "\n" + strings.Repeat(number+" ", 2000) + "end\n"
}

// writeAll writes a file for each effect; each process gives its files names of its own.
func writeAll(t *testing.T, directory string, next func()) {
	t.Helper()
	tested := open(t, directory, fmt.Sprintf("{date}/%d.md", os.Getpid()))
	for i := range effects {
		request := asked(schemas.TaskContext{Request: contentOf(strconv.Itoa(i))})
		request.EffectID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(i))).String()
		next()
		if _, err := tested.Handle(t.Context(), request, silent); err != nil {
			t.Fatal(err)
		}
	}
}
