//go:build unix

package mcp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podium/agents/mcp"
)

// childOf names a file in which a server says the process id of its child.
func childOf(t *testing.T) (named func(*mcp.Config), read func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "child")
	read = func() int {
		body, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(string(body))
		return pid
	}
	return func(config *mcp.Config) { config.Env = append(config.Env, "TEST_CHILD="+file) }, read
}

// gone reports whether a process has ended. A zombie that nobody reaps has.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestNoChildIsLeft: whatever a server has started ends with it: when it is closed, when it is killed and when it ends by itself, although the
// child ignores what it is told.
func TestNoChildIsLeft(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"family", "abandoning"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			named, child := childOf(t)
			one := tool(t, way, "echo", named)
			if _, err := one.Handle(t.Context(), request(`{"text":"x"}`), silent); err != nil && way == "family" {
				t.Fatal(err)
			}
			pid := child()
			if pid == 0 {
				t.Fatal("there is no child")
			}
			if way == "family" {
				if gone(pid) {
					t.Fatal("the child has not lived with its server")
				}
				if err := one.Close(); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "the child has ended", func() bool { return gone(pid) })
		})
	}
}

// TestKilledServerLeavesNothing: a server that is killed from outside takes its children along, and the next request has another.
func TestKilledServerLeavesNothing(t *testing.T) {
	t.Parallel()
	named, child := childOf(t)
	one := tool(t, "family", "effect", named)
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(outcome.Text, " ")
	first := child()
	server, err := strconv.Atoi(said)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child has ended", func() bool { return gone(first) })
	eventually(t, "another server answers", func() bool {
		outcome, err = one.Handle(t.Context(), request(`{}`), silent)
		return err == nil && !strings.HasSuffix(outcome.Text, " "+said)
	})
}

// TestStubbornServerIsKilled: one that neither ends with its input nor when it is told to is gone once the agent is closed all the same.
func TestStubbornServerIsKilled(t *testing.T) {
	t.Parallel()
	one := tool(t, "stubborn", "effect")
	outcome, err := one.Handle(t.Context(), request(`{}`), silent)
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(outcome.Text, " ")
	pid, err := strconv.Atoi(said)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Error("it lives on")
	}
}
