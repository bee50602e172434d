package chromium_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"podium/ingest/page/chromium"
)

// asVictim has this program start a browser, say so in a line, and wait to be killed.
const asVictim = "PODIUM_TEST_BROWSER"

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) == "" {
		os.Exit(m.Run())
	}
	browser, err := chromium.Start(context.Background(), "en")
	fmt.Fprintln(os.Stdout, "started", browser != nil, err)
	_, _ = io.Copy(io.Discard, os.Stdin) // or until the test has ended
}

// TestBrowserDiesWithItsTest: a test that is killed closes nothing, and yet no process of its browser goes on, though that hangs and notices nothing.
func TestBrowserDiesWithItsTest(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()                               // where the profile is, which the command lines of the browser name
	victim := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	victim.Env = append(os.Environ(), asVictim+"=1", "TMPDIR="+temporary)
	if _, err := victim.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = victim.Process.Kill() // it may have ended
		_ = victim.Wait()         // as it was killed
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(said).ReadString('\n')
	if line != "started true <nil>\n" {
		t.Fatalf("no browser: %q, %v", line, err)
	}
	hung := 0
	for process, command := range processesOf(t, temporary) {
		if !strings.Contains(command, " --type=") { // else it belongs to the browser's own process
			t.Cleanup(func() { _ = syscall.Kill(process, syscall.SIGKILL) }) // it has ended, if all is well
			if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			hung++
		}
	}
	if hung != 1 {
		t.Fatalf("%d browsers", hung)
	}
	kill()
	for deadline := time.Now().Add(2 * time.Minute); len(processesOf(t, temporary)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("these go on: %v", processesOf(t, temporary))
		}
	}
}

// processesOf are the processes whose command lines name a directory.
func processesOf(t *testing.T, directory string) map[int]string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, file := range files {
		line, err := os.ReadFile(file)
		process, unreadable := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && unreadable == nil && bytes.Contains(line, []byte(directory)) { // else it has ended
			found[process] = string(bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
	return found
}
