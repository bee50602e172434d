package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience bounds every wait of these tests. It is long because a machine at
// work is slow, and it is never spent by a test that passes.
const patience = 2 * time.Minute

// executable builds the program as it is shipped, once for all tests.
var executable = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "podium-test-")
	if err != nil {
		return "", err
	}
	builtIn.Store(&folder)
	binary := filepath.Join(folder, "podium")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build podium: %w\n%s", err, output)
	}
	return binary, nil
})

// builtIn is the folder to remove.
var builtIn atomic.Pointer[string]

// atOnce is how many tests run at a time unless the command line says so: most of their time they wait for
// processes and clocks.
const atOnce = 6

// TestMain removes the program when nothing runs it any more.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0))))
	}
	code := m.Run()
	if folder := builtIn.Load(); folder != nil {
		_ = os.RemoveAll(*folder)
	}
	os.Exit(code)
}

func binary(tb testing.TB) string {
	tb.Helper()
	path, err := executable()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// An outcome is what a command printed and how it ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// podium runs the program to its end.
func podium(tb testing.TB, arguments ...string) outcome {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), binary(tb), arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		tb.Fatalf("podium %s: %v", strings.Join(arguments, " "), err)
	}
	return outcome{code: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// in runs the program in this process, which is quicker where only words count.
func in(tb testing.TB, stdin string, arguments ...string) outcome {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	code := run(tb.Context(), arguments, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// succeeds fails the test unless the command ended with 0.
func (o outcome) succeeds(tb testing.TB) outcome {
	tb.Helper()
	if o.code != exitOK {
		tb.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	return o
}

// lines reads what -o json prints where there is one object a line.
func lines[T any](tb testing.TB, o outcome) []T {
	tb.Helper()
	var all []T
	for line := range strings.Lines(o.succeeds(tb).stdout) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			tb.Fatalf("%v in %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// eventually looks again and again until something holds.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	within(tb, patience, what, holds)
}

func within(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(limit); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			tb.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// A transcript takes a process's output while others read it.
type transcript struct {
	mutex sync.Mutex
	text  strings.Builder
}

// Write implements io.Writer.
func (t *transcript) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.text.Write(p)
}

// String returns what was written so far.
func (t *transcript) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.text.String()
}
