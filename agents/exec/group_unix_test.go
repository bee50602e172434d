//go:build unix

package exec_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"podium/agents/exec"
)

// childOf hands out the process id that a program reports.
func childOf(pid chan<- int, then func()) func(int, string) {
	return func(_ int, message string) {
		var id int
		if _, err := fmt.Sscanf(message, "child %d", &id); err == nil {
			pid <- id
			then()
		}
	}
}

// reported returns the process id that the program has reported before it ended.
func reported(t *testing.T, child <-chan int) int {
	t.Helper()
	select {
	case pid := <-child:
		return pid
	default:
		t.Fatal("the program ended before it could start its child")
		return 0
	}
}

// awaitGone fails unless the process ends soon. A zombie that only its new
// parent can reap counts as gone: it holds nothing any more.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("process %d still lives", pid)
}

func TestCancelKillsTheWholeGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	child := make(chan int, 1)
	_, err := program(t, "family").Handle(ctx, newRequest(), childOf(child, cancel))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	awaitGone(t, reported(t, child))
}

func TestTimeoutKillsTheWholeGroup(t *testing.T) {
	t.Parallel()
	child := make(chan int, 1)
	for timeout := time.Second; len(child) == 0; timeout *= 2 { // a busy machine needs longer until the child is there
		agent := program(t, "family", func(config *exec.Config) { config.Timeout = timeout })
		_, err := agent.Handle(t.Context(), newRequest(), childOf(child, func() {}))
		if failure := asFailure(t, err); failure.Permanent {
			t.Error("a timeout is said to be permanent")
		}
	}
	awaitGone(t, reported(t, child))
}

// A program that leaves a child behind has answered; the child must neither
// hold its answer back for long nor outlive it.
func TestWhatAProgramLeavesBehindIsKilled(t *testing.T) {
	t.Parallel()
	child := make(chan int, 1)
	result, err := program(t, "orphan").Handle(t.Context(), newRequest(), childOf(child, func() {}))
	if err != nil {
		t.Fatal(err)
	}
	if result.Text != "left" {
		t.Errorf("text %q, want %q", result.Text, "left")
	}
	awaitGone(t, reported(t, child))
}
